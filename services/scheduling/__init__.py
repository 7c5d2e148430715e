"""Doctors, free times, appointments and coverage: Protocols and a back end of FHIR R4 JSON."""
