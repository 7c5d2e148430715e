"""Yes and no, orders that are a whole message, and answers to what was asked."""
