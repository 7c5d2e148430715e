"""Who may open a chart, asked at every door: policies, breaking the glass, counting (10.6)."""
