"""What a short question asks that leans on the one before it."""
