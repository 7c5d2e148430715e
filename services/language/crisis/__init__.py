"""Words that need help now, not an agent: found by rules, answered with a fixed text."""
