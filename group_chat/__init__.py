"""The team, its tools and the model clients; alone in importing Semantic Kernel."""
