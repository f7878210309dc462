"""Which skills models have, and which concepts benchmarks test: the pure half."""
