"""What stands beside the chart: what changed, guidelines, trials; always rows with sources."""
