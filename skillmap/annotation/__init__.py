"""Skills of items: asked from a model, read out of its replies, or matched without one.

``calls`` asks for rationales or for bare lists of skills, ``replies`` reads what comes
back, and ``offline`` finds skills by ``sentences`` that are close to a ``vocabulary``.
Both ways give skill mentions in one form; merging their phrases is for ``slicing``.
"""
