"""Ages, lengths, distances and counts that sentences tell."""
