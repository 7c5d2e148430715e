"""What tools found, in the form in which sentences are compared with it."""
