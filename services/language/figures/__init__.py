"""Numbers, units, days and spans of time as people write them."""
