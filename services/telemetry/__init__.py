"""Logs, metrics and traces: figures and names of ours, nothing of what anybody said."""
