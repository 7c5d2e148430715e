"""Who may call: principals, the ways to verify them, origins, limits, and where we may call."""
