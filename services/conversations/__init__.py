"""One turn at a time per conversation: queue, take-over, clear, reading back."""
