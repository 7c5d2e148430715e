"""A judge model for wording, and how far it agrees with people."""
