"""What is called otherwise than by the question, is not the same, or is not yet."""

from datetime import date

import pytest

from data_models.chart_view import ChartView
from services.language.reading import read
from services.records.answers.choosing.imaged import reports_on
from services.records.resources.standing import FUTURE
from services.records.views.lists import care, procedures
from services.records.views.view import with_future_marked
from tests.services.records.charts import record, resource
from tests.services.records.test_said_otherwise import SITUATION, row, said
from tests.tables import with_cases
from tests.work import counted_calls

FAMILY = (
    row("family history", "sister", "", value="Breast cancer at age 36"),
    row("family history", "father", "", value="Deep vein thrombosis"),
)
_TODAY = date(2026, 11, 27)


def test_what_was_not_given_leaves_what_was_given_alone() -> None:
    shots = (
        row("immunization", "Influenza", "2023-10-18", status="not done"),
        row("immunization", "Influenza", "2022-10-20"),
    )
    told = said("which flu shots", {"immunizations": shots}).splitlines()
    assert [("not done" in line, "2022-10-20" in line) for line in told] == [
        (True, False),
        (False, True),
    ]


@with_cases("kind", "day", "status", "told")
def test_what_is_done_on_a_day_to_come_says_so(kind: str, day: str, status: str, told: str) -> None:
    view = ChartView(tool="x", kind="table", title="", rows=(row(kind, "X", day, status=status),))
    assert with_future_marked(view, _TODAY).rows[0].status == told


@pytest.mark.parametrize("text", ["has she had MMR?", "Hat sie MMR bekommen?"])
def test_what_is_dated_in_the_future_is_no_yes(text: str) -> None:
    later = row("immunization", "MMR", "2027-11-14", status=FUTURE)
    told = said(text, {"immunizations": (later,)})
    assert not told.startswith(("Yes", "Ja"))
    assert "future" in told or "künftigen" in told


@pytest.mark.parametrize("name", ["ultrasound thyroid", "ultrasound kidney"])
def test_a_report_in_german_is_found_by_the_part_of_the_body(name: str) -> None:
    rows = tuple(row("imaging", f"Sonographie {part}") for part in ("Schilddrüse", "Nieren"))
    assert len(reports_on(name, rows)) == 1


def test_the_words_of_many_reports_are_read_once() -> None:
    text = "The lungs are clear, no metastasis of the liver; the brain was not imaged."
    rows = tuple(row("imaging report", f"CT chest {n}", detail=text) for n in range(20))
    found = reports_on("lung metastasis", rows)
    with counted_calls() as made:
        assert reports_on("lung metastasis", rows) == found == rows
    assert made.count < 1_000 * len(rows)


def test_a_device_is_told_by_what_it_is() -> None:
    made = resource(
        "Device", "d", type={"text": "Insulin pump"}, deviceName=[{"name": "t:slim", "type": "x"}]
    )
    (shown,) = care(record(made)).rows
    assert (shown.name, shown.value) == ("Insulin pump", "t:slim")


@with_cases("text", "tool", "name")
def test_names_are_read_by_themselves(text: str, tool: str, name: str) -> None:
    (first, *_) = read(text, SITUATION).about
    assert (first.tool, first.name) == (tool, name)


@with_cases("text", "since", "years")
def test_a_time_of_life_is_years(text: str, since: int, years: int) -> None:
    (one,) = read(text, SITUATION).about
    assert (one.at_age, one.age_years) == (since, years)


def test_this_pregnancy_is_no_other() -> None:
    (one,) = read("bp trend this pregnancy", SITUATION).about
    assert (one.name, one.when, one.around[0].name) == ("blood pressure", "during", "pregnancy")


@pytest.mark.parametrize("done", ["Cholezystektomie", "Hysterektomie", "Tonsillektomie"])
def test_an_operation_in_german_from_greek_is_found(done: str) -> None:
    made = resource("Procedure", "p", status="completed", code={"text": done})
    english = done.casefold().replace("ektomie", "ectomy").replace("z", "c")
    assert procedures(record(made), name=english).rows


@with_cases("text", "reason")
def test_why_not_is_told_by_why_it_ended(text: str, reason: str) -> None:
    ended = row("medication", "Warfarin", status="stopped", detail="prescribed; ended because of X")
    assert reason not in said(text, {"medications": (ended,)})
