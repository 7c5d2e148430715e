"""The views of an oncology chart."""
