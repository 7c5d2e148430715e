"""What a message asks to be done, and by whom."""
