"""A user's own things in Microsoft Graph."""
