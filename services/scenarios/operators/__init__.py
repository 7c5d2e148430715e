"""What operators see and do about scenarios while the servers run."""
