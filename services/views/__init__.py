"""What pages and exports read of stored conversations, outside any turn."""
