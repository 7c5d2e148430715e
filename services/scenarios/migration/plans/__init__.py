"""What changed between two versions, and what an operator decided about it."""
