"""A turn as it is watched: its events, here and on other replicas."""
