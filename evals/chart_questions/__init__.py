"""Questions with known answers, made from any folder of FHIR; no code of the product in it."""
