"""From the bytes of foreign files to typed frames, with every bad record reported."""
