"""What authors write: checked, compiled, and compared by content."""
