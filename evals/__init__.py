"""Labelled sets, and a runner that asks any configured model."""
