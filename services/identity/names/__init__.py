"""Whose name stands in a message."""
