"""Who may open a chart, asked wherever one is shown: policies, emergencies, counting (10.6)."""
