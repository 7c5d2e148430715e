"""Reads what users write, once; the only code that looks at their words."""
