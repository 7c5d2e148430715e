"""FHIR resources as received, and the record of one patient that they make."""
