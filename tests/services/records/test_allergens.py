"""An allergy is found by what is of its kind, and never taken for one to something else."""

from data_models.chart_view import ViewRow
from tests.services.records.test_said_otherwise import row, said
from tests.tables import with_cases


def allergies(*names: str) -> dict[str, tuple[ViewRow, ...]]:
    return {"allergies": tuple(row("allergy", name, status="active") for name in names)}


@with_cases("text", "recorded")
def test_an_allergy_is_found_by_its_kind(text: str, recorded: str) -> None:
    told = said(text, allergies(recorded, "House dust mite allergy"))
    assert f"**{recorded}**" in told
    assert "not in the record" not in told
    assert "House dust" not in told


@with_cases("text", "recorded", "also")
def test_who_asks_for_a_kind_of_allergy_reads_others(text: str, recorded: str, also: str) -> None:
    told = said(text, allergies(recorded, "House dust mite allergy"))
    assert f"**{recorded}**" in told
    assert also in told


@with_cases("text", "recorded")
def test_an_allergy_to_something_else_is_told_as_that(text: str, recorded: str) -> None:
    first, *rest = said(text, allergies(recorded)).splitlines()
    assert "not in the record" in first
    assert f"**{recorded}**" in "".join(rest)
