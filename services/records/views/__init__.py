"""Pure views of a `PatientRecord`: each is bounded and says how much it left out."""
