"""A conversation as a whole: its document, its claim, its messages."""
