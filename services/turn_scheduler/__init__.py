"""The door to the pipeline: claims a message, gives each conversation a running, releases."""
