"""Turns as they happen, over WebSocket and AG-UI."""
