"""One run of a scenario with one patient: what it knows, and how it goes on."""
