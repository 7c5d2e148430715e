"""What runs beside the server, and how it gets where it runs."""
