"""What the user wants and what tools found, kept by delta and scoped by agent (spec page 2)."""
