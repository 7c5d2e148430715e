"""Slack as a channel: this folder is all that it takes, and `add_slack` in `app.build`."""
