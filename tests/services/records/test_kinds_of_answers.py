"""Kinds of questions whose answer told of another list, or of nothing although it is recorded."""

from tests.services.records.test_said_otherwise import row

TEAM = row("care team", "MS team", value="Dr. Solvay (Neurologist), Dr. Abara (Psychiatrist)")
MRI = row("procedure", "Magnetic resonance imaging of head (procedure)", "2006-04-01")
