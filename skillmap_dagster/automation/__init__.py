"""What runs by itself, and when."""
