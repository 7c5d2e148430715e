"""Right and wrong sentences of agents, against all that the tools say of a chart."""
