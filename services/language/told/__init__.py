"""What users tell of a patient."""
