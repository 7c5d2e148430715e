"""The way into the pipeline: claims a message, gives each conversation a worker, releases."""
