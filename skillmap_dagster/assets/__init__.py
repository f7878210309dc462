"""The assets: each reads, calls one function of skillmap, and returns rows."""
