"""Who is meant, and who may see it (spec page 10)."""
