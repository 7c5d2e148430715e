"""What the sentences of an agent state."""
