"""What a message points at, by one grammar: things, places in a list, days and hours."""
