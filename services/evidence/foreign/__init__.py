"""Tools of other systems, asked over the Model Context Protocol; what they say is data."""
