"""Documents, their accessors and the blob stores. Knows nothing above it."""
