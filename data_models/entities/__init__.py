"""What a conversation and its tools hold as entities (spec page 2)."""
