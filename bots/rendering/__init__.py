"""What a conversation of a channel is shown of a run, and how it gets there."""
