"""Papers that users give to a conversation about one patient; cited as such, never the record."""
