"""The words of each language, and what a text says by them."""
