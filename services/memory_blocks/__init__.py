"""Keeps a long conversation in bounded space (spec page 4)."""
