"""Measures what a turn costs. `python -m bench.turn` prints it beside the bars."""
