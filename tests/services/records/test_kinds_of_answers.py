"""Kinds of questions whose answer told of another list, or of nothing although it is recorded."""

from tests.services.records.test_said_otherwise import row, said

TEAM = row("care team", "MS team", value="Dr. Solvay (Neurologist), Dr. Abara (Psychiatrist)")
MRI = row("procedure", "Magnetic resonance imaging of head (procedure)", "2006-04-01")


def test_that_it_is_taken_is_no_level_of_it() -> None:
    drug = row("medication", "Vitamin B 12", status="active")
    told = said("b12 level", {"medications": (drug,), "search_record": (drug,)})
    assert "not in the record" in told.splitlines()[0]
