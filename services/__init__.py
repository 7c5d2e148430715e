"""The turn pipeline and its parts. Knows no transport and no Semantic Kernel."""
