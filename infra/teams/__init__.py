"""The app package for Teams: manifest, icons, and the script that joins them."""
