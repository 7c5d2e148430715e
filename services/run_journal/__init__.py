"""A turn's events on paper, for as long as somebody at another replica watches it."""
