"""Which model should answer an item: policies, and what they would have gained."""
