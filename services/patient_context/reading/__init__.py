"""What a message says of patients, and the server's own marks in texts."""
