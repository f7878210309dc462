"""Worlds whose truth is known, to see whether what we say about them is right."""
