"""Two charts side by side: laid by code, kept apart from both (spec page 10.5)."""
