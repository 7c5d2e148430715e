"""Names people use and the codes they mean, one table; its data stand beside the language."""
