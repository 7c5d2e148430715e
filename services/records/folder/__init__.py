"""Patients' records in a folder of files with any names.

`files` reads one file in pieces, `owners` says whose a resource is, `index` knows who the patients
of all files are, `records` loads charts, `check` tells an operator what was read and what was not.
"""
