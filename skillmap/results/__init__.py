"""What models answered, and what it is worth."""
