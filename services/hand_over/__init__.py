"""Turns that are finished by another replica when theirs dies."""
