"""Questions whose yes or no the record does not say, however near it comes to it."""

from data_models.chart_view import ViewRow
from services.language.reading import read
from services.records.views.lists import procedures
from services.records.views.medications import medications
from tests.services.records.charts import record, resource
from tests.services.records.test_chart_tools import TODAY, drug
from tests.services.records.test_said_otherwise import SITUATION, row, said
from tests.tables import with_cases

VALUES = tuple(
    row("laboratory", "Potassium", day, value=f"{value}", number=value, unit="mmol/L")
    for day, value in (("2023-07-08", 5.5), ("2022-03-04", 6.5), ("2020-02-03", 4.0))
)
YES_OR_NO = ("Yes", "Ja", "No:", "No.", "Nein")


def told_of(text: str, kind: str, one: ViewRow) -> str:
    return said(text, {kind: (one,), f"{kind} {one.name.lower()}": (one,)})


@with_cases("text", "tool", "kind", "name")
def test_whether_something_was_never_is_no_yes_by_what_was(
    text: str, tool: str, kind: str, name: str
) -> None:
    told = told_of(text, tool, row(kind, name, status="active"))
    assert f"**{name}**" in told
    assert not told.startswith(YES_OR_NO)


@with_cases("text", "tool", "kind", "fields")
def test_what_is_unclear_is_neither_yes_nor_no(
    text: str, tool: str, kind: str, fields: dict[str, str]
) -> None:
    told = told_of(text, tool, row(kind, **fields))
    assert f"**{fields['name']}**" in told
    assert not told.startswith(YES_OR_NO)
    assert "no end is recorded" not in told


@with_cases("text", "begins")
def test_a_limit_is_of_the_values_that_are_asked_about(text: str, begins: str) -> None:
    assert said(text, {"results": VALUES}).startswith(begins)


@with_cases("text", "days", "begins")
def test_between_values_of_one_moment_or_of_no_day_is_no_order(
    text: str, days: list[str], begins: str
) -> None:
    values = tuple(
        one.model_copy(update={"date": day}) for one, day in zip(VALUES, days, strict=False)
    )
    told = said(text, {"results": values})
    assert told.startswith(begins)
    assert "→" not in told


@with_cases("text", "tool", "kind", "name")
def test_what_was_not_done_is_not_counted(text: str, tool: str, kind: str, name: str) -> None:
    told = told_of(text, tool, row(kind, name, status="not done"))
    assert told.startswith(("No:", "Nein:"))
    assert "1 " not in told.splitlines()[0]


def test_a_drug_that_begins_later_is_not_taken() -> None:
    later = drug("m", "Metformin 500 mg", authoredOn="2027-03-01")
    (shown,) = medications(record(later), today=TODAY, name="metformin").rows
    assert shown.status == "planned"
    assert not said("is she on metformin?", {"medications": (shown,)}).startswith("Yes")
    assert not medications(record(later), today=TODAY).rows


@with_cases("text", "recorded")
def test_one_treatment_of_a_kind_is_no_yes_to_another(text: str, recorded: str) -> None:
    done = resource("Procedure", "p", status="completed", code={"text": recorded})
    asked = {one.name for one in read(text, SITUATION).about if one.tool == "procedures"}
    (name,) = asked
    assert not procedures(record(done), name=name).rows
