"""The steps of a turn, a file each; `services/turn_pipeline.py` calls them in order."""
