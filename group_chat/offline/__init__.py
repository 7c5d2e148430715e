"""The offline rules: a deterministic model inside the process that needs nothing."""
