"""What models write around and within their answers."""
