"""Patient records from FHIR R4: sample bundles or a server, and the views agents read.

`PatientRecords` (ports) is the only way in; `views` are pure functions of a loaded record;
`report` writes the tumor-board document.
"""
