"""What makes two items the same: identity, content hashes, duplicate groups."""
