"""The door to the pipeline: claims a message, gives each conversation a lane, releases."""
