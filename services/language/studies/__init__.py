"""What studies ask of those who may take part."""
