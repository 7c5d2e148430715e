"""Users who sign in with a browser: OpenID, SMART and FHIRcast."""
