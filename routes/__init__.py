"""HTTP and WebSocket ends of the chat; they carry and decide nothing."""
