"""Drafts of orders: what may be drafted, how it is asked, and how it is stored once."""
