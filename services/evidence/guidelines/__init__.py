"""A hospital's own guidelines: read from a folder, searched by section, quoted as they are."""
