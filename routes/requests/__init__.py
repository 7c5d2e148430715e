"""What every route shares: who calls, what is sent, how errors are told."""
