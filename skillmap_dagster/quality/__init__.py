"""Audits of what an asset is about to publish."""
