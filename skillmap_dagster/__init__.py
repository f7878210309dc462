"""The Dagster half of skillmap: thin assets, and resources with side effects."""
