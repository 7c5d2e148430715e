"""Commands that set the project up and check it; they need nothing but Python itself."""
