"""Runs encoders: loads models and autoencoders, and encodes benchmarks by shards."""
