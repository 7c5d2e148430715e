"""Clients of language models: one pool of connections, bounded calls, faults in our own words."""
