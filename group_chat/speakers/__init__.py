"""Who speaks next, and what becomes of a plan."""
