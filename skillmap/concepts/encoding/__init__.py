"""From texts to sparse activations: encoders, their dictionaries, and what they give.

Nothing here imports torch when it is imported: a function that can compute with it
imports it itself. Models are run by ``skillmap_dagster.resources.encoders``.
"""
