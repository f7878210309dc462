"""Numbers about groups of items, each with its n and its interval."""
