"""A turn's scenario: its answers, news and new versions."""
