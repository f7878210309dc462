"""Scripts that make the starter suite; run from the repository's root with -m."""
