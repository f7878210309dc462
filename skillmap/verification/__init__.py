"""Whether the skills named for items are relevant, as other models see it.

``sampling`` draws items, listed skills and negatives, ``calls`` asks verifiers about
them, ``replies`` reads verdicts by id, ``rates`` says how often listed skills are
confirmed and negatives rejected, and ``agreement`` how far verifiers agree.
"""
