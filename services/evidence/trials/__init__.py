"""Studies and their criteria, each judged by code against the chart's rows or left open."""
