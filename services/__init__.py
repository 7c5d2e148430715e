"""The parts of a turn: plain objects in, plain objects out; no part imports a sibling."""
