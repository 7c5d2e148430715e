"""What a patient's memory holds, item by item with its sources, and how people change it."""
