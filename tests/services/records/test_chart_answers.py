"""What the built-in rules say over rows, made by hand and worked out by hand."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from data_models.chart_view import ChartView, LeftOut, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered
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
ALLERGIES = (
    ViewRow(kind="allergy", name="Latex allergy", status="active", date="2001-01-01",
            sources=("AllergyIntolerance/l",)),
)  # fmt: skip
ROWS = {
    "results": VALUES, "problems": PROBLEMS, "encounters": VISITS, "chart_summary": IDENTITY,
    "allergies": ALLERGIES,
}  # fmt: skip


def answer(text: str, rows: tuple[ViewRow, ...] | None = None, nothing: str = "") -> str:
    utterance = read(text, SITUATION)
    (question,) = utterance.about
    shown = ROWS[question.tool] if rows is None else rows
    view = ChartView(tool=question.tool, kind="table", title="", rows=shown, nothing=nothing)
    return answer_of(question, view, answer_words(utterance.language))


def test_a_course_lists_each_value_the_newest_first() -> None:
    lines = [line for line in answer("potassium over time").splitlines() if line.startswith("- ")]
    assert [line[2:12] for line in lines] == ["2020-03-04", "2019-02-01", "2018-01-01"]


@with_cases("asked", "label", "is_meant")
def test_classes_of_illnesses_hold_their_members(asked: str, label: str, is_meant: bool) -> None:
    assert means("problem", asked, label=label, codes=()) is is_meant


def test_what_is_abnormal_is_told_and_the_rest_is_counted() -> None:
    bare = ViewRow(kind="laboratory", name="Sodium", value="140", number=140, date="2020-03-04")
    low = potassium("2020-03-04", 3.1, "low").model_copy(update={"name": "Magnesium"})
    said = answer("which labs are abnormal?", (*VALUES, low, bare))

    assert said.splitlines() == [
        "**Magnesium**: 3.1 mmol/L (3.5 – 5.1), low, 2020-03-04 [Observation/k-2020-03-04]",
        "1 values: not flagged in the record.",
        "1 values: the record gives no reference range.",
    ]


def test_what_was_ever_too_low_is_no_word_about_the_newest_value_alone() -> None:
    assert "2018-03-04 3.1" in answer(
        "was the potassium ever low?",
        (potassium("2020-03-04", 4.1, ""), potassium("2018-03-04", 3.1, "low")),
    )
    bare = [
        ViewRow(kind="laboratory", name="Potassium", value=str(value), number=value, date=day)
        for value, day in ((4.4, "2020-03-04"), (3.0, "2018-03-04"), (4.1, "2017-03-04"))
    ]
    said = answer("was the potassium ever low?", tuple(bare)).splitlines()
    assert ["no reference range" in said[0], *said[1:]] == [
        True,
        "Lowest **Potassium**: 3.0, 2018-03-04",
        "Highest **Potassium**: 4.4, 2020-03-04",
    ]


def test_doctors_are_counted_by_name() -> None:
    with_two = tuple(
        row.model_copy(update={"detail": f"with Dr. {name}"})
        for row, name in zip(VISITS[1:3], "AB", strict=True)
    )
    said = answer("how many different doctors has she seen?", with_two)
    assert ("Dr. A" in said, "Dr. B" in said, "2 visits" in said) == (True, True, False)


def test_an_allergy_is_found_by_its_word() -> None:
    assert answer("is she allergic to latex?").startswith("Yes: **Latex allergy**")
    assert answer("is she allergic to penicillin?").startswith("“penicillin”")
    assert answer("any allergies?", (), "Nothing is recorded.") == "Nothing is recorded."


@with_cases("text", "said")
def test_it_answers_in_the_language_of_the_question(text: str, said: str) -> None:
    assert said in answer(text)


def test_one_fact_is_short_however_long_the_record() -> None:
    many = tuple(potassium(f"{1950 + n}-01-01", 4.0) for n in range(70))
    assert len(answer("latest potassium", many)) < 200
    assert len(answer("potassium over time", many)) < 1_500


def test_why_a_drug_was_stopped_is_not_what_it_was_for() -> None:
    stopped = ViewRow(
        kind="medication", name="Naproxen", status="stopped", date="2015-01-02", detail="for Gout"
    )
    assert answer("why was naproxen stopped?", (stopped,)).endswith("does not say why it ended.")
    assert answer("when was naproxen stopped?", (stopped,)).endswith("does not say when it ended.")
    because = stopped.model_copy(update={"detail": "for Gout; ended because of Ulcer"})
    assert "does not say" not in answer("why was naproxen stopped?", (because,))


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


def test_who_was_seen_is_told_by_person() -> None:
    rows = tuple(
        ViewRow(kind="encounter", name="Visit", date=date, detail=f"with Dr. {who}",
                sources=(f"Encounter/{date}",))
        for date, who in (("2020-01-01", "A"), ("2019-01-01", "B"), ("2018-01-01", "A"))
    )  # fmt: skip
    said = answer("which doctors has she seen?", rows)
    assert said.startswith("- **Dr. A**: 2 visits, 2018-01-01 – 2020-01-01")
    assert len(said.splitlines()) == 2


PAUSED = (
    ViewRow(kind="medication", name="Metformin", value="850 mg", status="on-hold",
            detail="Paused on admission", sources=("MedicationStatement/m",)),
)  # fmt: skip


def test_where_nothing_is_taken_what_is_paused_is_told_as_that() -> None:
    assert answer("what does she take?", PAUSED).startswith(
        "No drug is recorded as taken now; paused:\n- **Metformin**: 850 mg, on-hold"
    )
    assert "pausiert:\n- **Metformin**" in answer("Welche Medikamente nimmt sie?", PAUSED)


def test_the_value_before_is_said_and_that_there_is_none_before_the_first() -> None:
    (question,) = read("potassium?", SITUATION).about
    view = ChartView(tool="results", kind="table", title="", rows=VALUES)
    words = answer_words("en")
    assert "5.3 mmol/L" in answer_of(replace(question, back=1), view, words)
    gone = answer_of(replace(question, back=3), view, words)
    assert gone.startswith("No earlier one is recorded.")
    assert "2018-01-01" in gone


def whole_answer(text: str, rows: Mapping[str, tuple[ViewRow, ...]] = ROWS) -> str:
    """Answer with every list of `rows` that is looked up; one that they lack is empty."""
    utterance = read(text, SITUATION)
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    for _ in range(5):
        told = answered(utterance.about, given, answer_words(utterance.language))
        if isinstance(told, str):
            return told
        found = rows.get(told.tool, ())
        given.append((told, ChartView(tool=told.tool, kind="table", title="", rows=found)))
    raise AssertionError(given)


def test_what_the_notes_say_is_told_once_for_two_lists_that_are_asked() -> None:
    notes = tuple(
        ViewRow(kind="document", name=name, date=day, detail="no penicillin, rash in 2009",
                sources=(f"DocumentReference/{name}",))
        for name, day in (("letter", "2024-02-21"), ("visit", "2024-03-06"))
    )  # fmt: skip
    allergy = ViewRow(kind="allergy", name="Penicillin (rash)", sources=("AllergyIntolerance/a",))
    told = whole_answer(
        "does she tolerate penicillin", {"allergies": (allergy,), "search_record": notes}
    )
    assert told.count("DocumentReference/letter") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("how old was she when she was diagnosed with hypertension?", "at the age of 33"),
        ("wie alt war sie bei der Diagnose der Hypertonie?", "mit 33 Jahren"),
    ],
)
def test_how_old_they_were_is_counted_to_that_day(text: str, said: str) -> None:
    told = whole_answer(text)
    assert said in told
    assert "61" not in told


def test_how_old_they_are_is_told_where_nothing_else_is_asked() -> None:
    assert "61 years" in whole_answer("how old is she?")


def test_an_illness_that_is_no_listed_problem_is_said_to_be_none_and_what_is_near_is_shown() -> (
    None
):
    prediabetes = replace_name(PROBLEMS[0], "Prediabetes")
    plan = ViewRow(kind="care plan", name="Diabetes self management plan", sources=("CarePlan/1",))
    rows = ROWS | {"problems": (*PROBLEMS, prediabetes), "search_record": (plan,)}
    told = whole_answer("is she diabetic?", rows)
    assert told.startswith("No problem is recorded under the name “diabetes”.")
    assert "**Prediabetes**" in told
    assert "Diabetes self management plan" in told


def replace_name(row: ViewRow, name: str) -> ViewRow:
    return row.model_copy(update={"name": name, "sources": ("Condition/p",)})


def test_a_reaction_that_is_not_recorded_is_said_to_be_missing() -> None:
    told = answer("what happens when she eats latex")

    assert "Latex allergy" in told
    assert "does not say the reaction" in told


def test_a_treated_problem_is_no_yes() -> None:
    told = answer("is the hypertension treated")

    assert "Hypertension" in told
    assert not told.startswith("Yes")


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
