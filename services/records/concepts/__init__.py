"""Names people use and the codes they mean: one table, as data in `concepts.yaml`."""
