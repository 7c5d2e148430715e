"""An agent's message while it is written and checked."""
