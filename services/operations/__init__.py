"""What operators do beside the servers: back up, restore, delete one patient's data."""
