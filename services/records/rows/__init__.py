"""Rows of a chart, made of its resources."""
