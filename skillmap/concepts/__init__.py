"""What benchmarks exercise and models fail on, in the concepts of an encoder."""
