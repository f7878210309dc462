"""Answers read again from stored responses, by rules that carry a version.

What a response answered is a measurement, and each extractor measures a little
differently. A score is therefore known by its response and its extractor.
"""

EXTRACTOR_VERSION = "skillmap-1"
"""Goes up with every change that can read an answer differently."""
