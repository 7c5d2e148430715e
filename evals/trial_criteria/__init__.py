"""Criteria of studies with the verdicts that a person gave them, over the sample patients."""
