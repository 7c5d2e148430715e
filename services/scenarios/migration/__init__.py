"""New versions while sessions run: plans, deployments, and what a session meets."""
