"""Scenario definitions, and a patient's way through one."""
