"""What a turn answers itself, before the team is asked."""
