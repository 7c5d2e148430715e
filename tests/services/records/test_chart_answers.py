"""What the built-in rules say over rows, made by hand and worked out by hand."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from data_models.chart_view import ChartView, LeftOut, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered
from services.records.answers.looked_up import told_of_day
from services.records.answers.sentences import answer_of
from services.records.concepts.table import class_taken_for, names_of_procedure
from services.records.rows.finding import means
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def potassium(date: str, number: float, flag: str = "") -> ViewRow:
    return ViewRow(
        kind="laboratory", name="Potassium", value=f"{number}", number=number, unit="mmol/L",
        range="3.5 – 5.1", flag=flag, date=date, sources=(f"Observation/k-{date}",),
    )  # fmt: skip


VALUES = (
    potassium("2020-03-04", 4.2),
    potassium("2019-02-01", 5.3, "high"),
    potassium("2018-01-01", 3.4, "low"),
)
PROBLEMS = (
    ViewRow(kind="problem", name="Hypertension", status="active", date="1999-02-03",
            sources=("Condition/h",)),
    ViewRow(kind="problem", name="Viral sinusitis", status="resolved", date="2012-01-01",
            end="2012-01-14", sources=("Condition/s",)),
)  # fmt: skip
VISITS = (
    ViewRow(kind="appointment", name="Follow-up", date="2027-01-05", sources=("Appointment/a",)),
    ViewRow(kind="encounter", name="Check-up", value="ambulatory", date="2017-11-03",
            sources=("Encounter/3",)),
    ViewRow(kind="encounter", name="Emergency Room Admission", value="emergency",
            date="2017-02-01", detail="for Chest pain", sources=("Encounter/2",)),
    ViewRow(kind="encounter", name="Check-up", value="ambulatory", date="2014-05-06",
            sources=("Encounter/1",)),
)  # fmt: skip
IDENTITY = (
    ViewRow(kind="patient", name="Ann Example", value="female, 61 years", date="1965-04-03",
            detail="born 1965-04-03", sources=("Patient/p",)),
)  # fmt: skip


def answer(text: str, rows: tuple[ViewRow, ...]) -> str:
    utterance = read(text, SITUATION)
    (question,) = utterance.about
    view = ChartView(tool=question.tool, kind="table", title="", rows=rows)
    return answer_of(question, view, answer_words(utterance.language))


@with_cases("asked", "label", "is_meant")
def test_classes_of_illnesses_hold_their_members(asked: str, label: str, is_meant: bool) -> None:
    assert means("problem", asked, label=label, codes=()) is is_meant


def test_one_fact_is_short_however_long_the_record() -> None:
    many = tuple(potassium(f"{1950 + n}-01-01", 4.0) for n in range(70))
    assert len(answer("latest potassium", many)) < 200
    assert len(answer("potassium over time", many)) < 1_500


def test_a_long_course_keeps_its_newest_events_and_tells_what_recurs_once() -> None:
    shots = [
        ViewRow(kind="procedure", name="Injection", date=f"20{year}-01-01")
        for year in range(10, 20)
    ]
    events = [
        ViewRow(kind="problem", name=f"Illness {number} {'x' * 60}", date=f"{1900 + number}-01-01")
        for number in range(100)
    ]
    said = answer("timeline", (*events, *shots))
    assert said.count("Injection") == 1
    assert "10 times, the last, 2019-01-01" in said
    assert "Illness 99" in said
    assert "Illness 0 " not in said
    assert "more in the record" in said


def test_the_value_before_is_said_and_that_there_is_none_before_the_first() -> None:
    (question,) = read("potassium?", SITUATION).about
    view = ChartView(tool="results", kind="table", title="", rows=VALUES)
    words = answer_words("en")
    assert "5.3 mmol/L" in answer_of(replace(question, back=1), view, words)
    gone = answer_of(replace(question, back=3), view, words)
    assert gone.startswith("No earlier one is recorded.")
    assert "2018-01-01" in gone


@pytest.mark.parametrize(("recorded", "told"), [("40 years", "40 Jahre"), ("1 year", "1 Jahr")])
def test_an_age_is_told_in_the_language_of_the_answer(recorded: str, told: str) -> None:
    assert answer_words("de").word(recorded) == told


@pytest.mark.parametrize(
    ("asked", "drugs"), [("memory", "Dementia drugs"), ("bones", "Bone drugs"), ("fever", "")]
)
def test_drugs_are_meant_by_what_they_are_for(asked: str, drugs: str) -> None:
    assert class_taken_for(asked) == drugs


def test_a_kind_of_procedure_holds_its_members_and_not_the_other_way_round() -> None:
    assert "cesarean section" in names_of_procedure("delivery")
    assert "episiotomy" not in names_of_procedure("cesarean section")
    assert "tubal ligation" not in names_of_procedure("vasectomy")


def test_before_a_scan_is_what_another_day_brought() -> None:
    rows = (
        ViewRow(kind="imaging report", name="CT chest", date="2025-05-16", sources=("D/2",)),
        ViewRow(kind="imaging study", name="CT chest", date="2025-05-16", sources=("I/2",)),
        ViewRow(kind="imaging report", name="CT chest", date="2024-09-16", sources=("D/1",)),
    )
    view = ChartView(tool="imaging_reports", kind="table", title="Imaging", rows=rows)
    question = ChartQuestion("imaging_reports", aspect="latest", name="CT", back=1)
    assert "2024-09-16" in answer_of(question, view, answer_words("en"))


def test_where_nothing_is_of_the_days_asked_about_the_newest_value_is_told() -> None:
    question = read("potassium over the last 2 years", SITUATION).about[0]
    others = LeftOut(count=4, what="other values", argument="other since")
    empty = ChartView(tool="results", kind="table", title="", left_out=(others,))
    noted = answered([question], [(question, empty)], answer_words("en"))
    assert isinstance(noted, ChartQuestion)
    assert noted.tool == "search_record"
    given = [
        (question, empty),
        (noted, ChartView(tool=noted.tool, kind="table", title="", rows=())),
    ]
    newest = answered([question], given, answer_words("en"))
    assert isinstance(newest, ChartQuestion)
    assert "since" not in newest.arguments
    found = ChartView(tool="results", kind="table", title="", rows=VALUES)
    told = answered([question], [*given, (newest, found)], answer_words("en"))
    assert told == (
        "Nothing of that time is in the record: potassium.\n"
        "**Potassium**: 4.2 mmol/L (3.5 – 5.1), 2020-03-04 [Observation/k-2020-03-04]"
    )


def test_a_summary_has_a_list_for_each_kind_and_says_which_is_empty() -> None:
    address = ViewRow(kind="personal", name="address", value="1 Main Street")
    death = ViewRow(kind="personal", name="death", value="2026-01-02")
    rows = (*IDENTITY, *PROBLEMS[:1], *VALUES[-1:], *VISITS[1:2], address, death)

    english = answer("give me a quick summary", rows)
    assert [line for line in english.splitlines() if not line.startswith("- ")] == [
        "**Ann Example**: female, 61 years; born 1965-04-03 [Patient/p]", "**death**: 2026-01-02",
        "", "**Allergies**", "", "**Problems**", "", "**Medications**", "", "**Values**",
        "", "**Visits**",
    ]  # fmt: skip
    assert "- Nothing is recorded about allergies; that is not a statement" in english
    assert "Main Street" not in english
    assert "Zu Allergien ist nichts verzeichnet" in answer("Zusammenfassung bitte", rows)


def test_a_summary_says_in_any_language_that_the_record_is_incomplete() -> None:
    gap = "This record is incomplete: the server does not offer AllergyIntolerance."
    nothing = "Nothing is recorded about allergies; that is not a statement that there are none."
    view = ChartView(
        tool="chart_summary", kind="facts", title="", rows=IDENTITY, notes=(nothing, gap)
    )
    for text in ("quick summary", "Zusammenfassung bitte"):
        utterance = read(text, SITUATION)
        said = answer_of(utterance.about[0], view, answer_words(utterance.language))
        assert f"- {gap}" in said
        assert said.count(nothing) == (utterance.language == "en")


def test_what_began_on_a_day_of_an_earlier_time_is_told_for_that_time() -> None:
    ill = ViewRow(
        kind="problem", name="Pharyngitis", status="resolved", date="2017-09-11",
        detail="recorded 3 times, last 2017-09-11, before 2017-01-03, 2014-10-23",
    )  # fmt: skip
    drug = ViewRow(kind="medication", name="Penicillin", date="2017-01-03", sources=("M/1",))
    question = ChartQuestion("medications", {}, "all", "Penicillin", "reason")
    problems = ChartView(tool="problems", kind="table", title="", rows=(ill,))
    drugs = ChartView(tool="medications", kind="table", title="", rows=(drug,))
    said = told_of_day(question, drugs, [problems], "", answer_words("en"))
    assert "**Pharyngitis**, resolved, 2017-01-03" in said


def test_weeks_of_a_pregnancy_are_no_age() -> None:
    asked = read("bleeding when she was 10 weeks?", SITUATION).about
    assert {each.at_age for each in asked} <= {None}
