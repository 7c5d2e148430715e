"""What a channel of the Bot Framework needs remembered: owed replies, repeats, thumbs."""
