"""What of the chart a message asks for."""
