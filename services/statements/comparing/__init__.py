"""Compares what a clause states with the rows."""
