"""Annotator text read into steps, skill chains and skill mentions with spans.

``labels`` finds the lines that mean something, ``tables`` those in Markdown tables,
``outline`` says which of them open a step, ``chains`` splits a skill line into
names, ``markdown`` puts steps together, ``structured`` reads the JSON form and
``frames`` makes tables of it all. ``published`` is the published parser, kept for
comparison only. Names are kept as written: evening them out is not done here.
"""

from skillmap.parsing.rationales.chains import Chain
from skillmap.parsing.rationales.frames import (
    ParsedRationales,
    parse_rationale,
    parse_rationales,
)
from skillmap.parsing.rationales.published import paper_parity_mentions
from skillmap.parsing.rationales.steps import Rationale, Step

__all__ = [
    "Chain",
    "ParsedRationales",
    "Rationale",
    "Step",
    "paper_parity_mentions",
    "parse_rationale",
    "parse_rationales",
]
