"""Whether what an agent states of a patient is in the rows that tools returned."""
