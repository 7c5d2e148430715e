"""A user's own things as files beside the conversations."""
