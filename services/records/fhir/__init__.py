"""Charts on a FHIR R4 server: client, searches and writes."""
