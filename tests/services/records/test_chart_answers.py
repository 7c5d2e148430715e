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


def test_the_latest_value_is_one_sentence_with_unit_date_and_source() -> None:
    assert answer("What is her latest potassium?") == (
        "**Potassium**: 4.2 mmol/L (3.5 – 5.1), 2020-03-04 [Observation/k-2020-03-04]"
    )


def test_the_highest_and_the_lowest_are_told_with_their_dates() -> None:
    assert "5.3 mmol/L (3.5 – 5.1), high, 2019-02-01" in answer("highest potassium")
    assert "3.4 mmol/L" in answer("lowest potassium")


def test_a_limit_is_answered_by_all_values() -> None:
    assert answer("was the potassium ever above 5?").startswith("Yes. 1 of 3 values above 5")
    said = answer("was the potassium ever above 6?")
    assert said.startswith("No. None of 3 values is above 6")
    assert "5.3" in said


def test_a_change_is_worked_out() -> None:
    said = answer("how has the potassium changed?")
    assert "3.4 mmol/L (2018-01-01)" in said
    assert "+0.8 mmol/L" in said


def test_an_average_says_of_how_many() -> None:
    assert "4.3 mmol/L (3 values, 2018-01-01 to 2020-03-04)" in answer("average potassium")


def test_a_course_lists_each_value_the_newest_first() -> None:
    lines = [line for line in answer("potassium over time").splitlines() if line.startswith("- ")]
    assert [line[2:12] for line in lines] == ["2020-03-04", "2019-02-01", "2018-01-01"]


def test_values_are_counted() -> None:
    assert answer("how many potassium values are there?").startswith("3 values of Potassium")


def test_the_first_value_is_the_oldest() -> None:
    assert "2018-01-01" in answer("What was the first potassium?")


def test_whether_a_problem_is_there_says_yes_no_or_that_it_is_over() -> None:
    assert answer("does she have hypertension?").startswith("Yes: **Hypertension**, active")
    assert answer("does she have sinusitis?").startswith("No longer: **Viral sinusitis**")
    assert answer("has she ever had sinusitis?").startswith("Yes, in the past: **Viral sinus")
    assert answer("does she have gout?") == "“gout” (2 problems): not in the record."


def test_what_is_not_there_is_not_counted() -> None:
    assert answer("how many strokes did she have?") == "“stroke” (2 problems): not in the record."


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


def test_all_drugs_ever_stopped_holds_the_stopped_ones() -> None:
    taken = ViewRow(kind="medication", name="Simvastatin", status="active", date="1998-05-22")
    over = ViewRow(kind="medication", name="Ibuprofen", status="stopped", date="2012-03-05")
    assert "Ibuprofen" in answer("show all drugs ever stopped", (taken, over))


def test_a_limit_of_blood_pressure_is_one_of_the_upper_value() -> None:
    rows = tuple(
        ViewRow(kind="vital sign", name="Blood Pressure", value=value, unit="mm[Hg]", date=day)
        for value, day in (("147.9/101.9", "2020-09-17"), ("120/80", "2019-09-17"))
    )
    assert answer("was the blood pressure ever above 140?", rows).startswith("Yes. 1 of 2 values")
    assert "147.9/101.9" in answer("highest blood pressure", rows)


def test_diagnoses_made_in_a_year_are_those_that_began_then() -> None:
    assert "Hypertension" not in answer("which diagnoses were made in 2012?")
    assert "Viral sinusitis" in answer("which diagnoses were made in 2012?")
    assert "Hypertension" in answer("which problems did she have in 2012?")


def test_doctors_are_counted_by_name() -> None:
    with_two = tuple(
        row.model_copy(update={"detail": f"with Dr. {name}"})
        for row, name in zip(VISITS[1:3], "AB", strict=True)
    )
    said = answer("how many different doctors has she seen?", with_two)
    assert ("Dr. A" in said, "Dr. B" in said, "2 visits" in said) == (True, True, False)


def test_a_summary_holds_no_numbers_of_the_state() -> None:
    ssn = ViewRow(kind="personal", name="social security number", value="999-29-2368")
    assert "999-29-2368" not in answer("give me a summary of her chart", (*IDENTITY, ssn))
    assert "999-29-2368" in answer("what is her social security number?", (*IDENTITY, ssn))


@pytest.mark.parametrize(
    "asked", ["What is she allergic to?", "what's she allergic to", "Wogegen ist sie allergisch?"]
)
def test_what_somebody_is_allergic_to_is_looked_up_among_the_allergies(asked: str) -> None:
    assert "Latex allergy" in answer(asked)


def test_an_allergy_is_found_by_its_word() -> None:
    assert answer("is she allergic to latex?").startswith("Yes: **Latex allergy**")
    assert answer("is she allergic to penicillin?").startswith("“penicillin”")
    assert answer("any allergies?", (), "Nothing is recorded.") == "Nothing is recorded."


def test_visits_to_come_are_no_visits() -> None:
    assert answer("when was the last visit?").startswith("**Check-up**: ambulatory, 2017-11-03")
    assert answer("how many visits in 2017?").startswith("2 visits")
    assert answer("how many visits in 2016?").startswith("0 visits")
    assert "Emergency Room" in answer("was she ever in the emergency room?")


def test_who_the_patient_is_comes_from_the_summary() -> None:
    assert answer("when was she born?") == "Born 1965-04-03 [Patient/p]"
    assert "61 years" in answer("how old is she?")
    assert answer("is she alive?") == "No death is recorded [Patient/p]"


def test_another_time_is_not_said_to_be_missing_altogether() -> None:
    assert answer("did she have sinusitis in 2015?") == (
        "Nothing of that time is in the record: sinusitis.\n"
        "- **Viral sinusitis**, resolved, 2012-01-01 to 2012-01-14 [Condition/s]"
    )


@with_cases("text", "said")
def test_it_answers_in_the_language_of_the_question(text: str, said: str) -> None:
    assert said in answer(text)


def test_one_fact_is_short_however_long_the_record() -> None:
    many = tuple(potassium(f"{1950 + n}-01-01", 4.0) for n in range(70))
    assert len(answer("latest potassium", many)) < 200
    assert len(answer("potassium over time", many)) < 1_500


def test_a_reason_that_nobody_recorded_is_said_to_be_missing() -> None:
    said = answer("when was her last visit and why?")
    assert "2017-11-03" in said
    assert said.endswith("The record does not say the reason.")
    told = (ViewRow(kind="encounter", name="Check-up", date="2017-11-03", detail="for Cough"),)
    assert "does not say" not in answer("when was her last visit and why?", told)


def test_why_a_drug_was_stopped_is_not_what_it_was_for() -> None:
    stopped = ViewRow(
        kind="medication", name="Naproxen", status="stopped", date="2015-01-02", detail="for Gout"
    )
    assert answer("why was naproxen stopped?", (stopped,)).endswith("does not say why it ended.")
    assert answer("when was naproxen stopped?", (stopped,)).endswith("does not say when it ended.")
    because = stopped.model_copy(update={"detail": "for Gout; ended because of Ulcer"})
    assert "does not say" not in answer("why was naproxen stopped?", (because,))


def test_episodes_of_one_problem_are_counted_by_their_entries() -> None:
    twice = ViewRow(kind="problem", name="Bronchitis", status="resolved", date="2012-01-01",
                    sources=("Condition/1", "Condition/2"))  # fmt: skip
    assert answer("how many episodes of bronchitis?", (twice,)).startswith("2 problems: bronchitis")


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


def test_what_was_not_done_is_no_yes() -> None:
    row = ViewRow(kind="procedure", name="Total hip replacement", status="not done",
                  date="2023-08-08", detail="Patient declined")  # fmt: skip
    said = answer("did he have a hip replacement?", (row,))
    assert said.startswith("No: **Total hip replacement**, not done, 2023-08-08; Patient declined")


def test_a_panel_of_the_laboratory_is_no_letter() -> None:
    panel = ViewRow(kind="laboratory report", name="Lipid Panel", date="2020-03-26")
    letter = ViewRow(kind="note", name="Discharge summary", date="2019-01-01")
    assert "Lipid" not in answer("any letters?", (panel, letter))
    assert "Discharge summary" in answer("any letters?", (panel, letter))
    assert answer("any letters?", (panel,)) == "Not in the record."


def test_whether_something_is_over_is_answered_by_what_was_asked() -> None:
    assert answer("is the hypertension resolved?").startswith("No: **Hypertension**, active")
    assert answer("is the sinusitis resolved?").startswith("Yes: **Viral sinusitis**, resolved")


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


def test_what_is_absent_is_called_as_the_language_of_the_question_calls_it() -> None:
    assert answer("wie schwer ist sie?", ()).startswith("„Gewicht“")


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


TETANUS = ViewRow(
    kind="immunization", name="Td (adult)", date="2019-04-23", sources=("Immunization/td",)
)


@pytest.mark.parametrize(
    "asked", ["is he due a tetanus shot", "when is the next jab due", "vaccines up to date?"]
)
def test_what_is_due_no_record_says(asked: str) -> None:
    told = answer(asked, (TETANUS,))

    assert "2019-04-23" in told
    assert "does not say what is due" in told
    assert not told.startswith("Yes")


def test_what_was_given_at_one_visit_is_the_last_vaccination_each() -> None:
    flu = TETANUS.model_copy(update={"name": "Influenza", "sources": ("Immunization/flu",)})
    older = flu.model_copy(update={"date": "2018-04-23", "sources": ("Immunization/old",)})
    told = answer("last vaccination?", (older, TETANUS, flu))
    assert ("Td (adult)" in told, "Influenza" in told, "2018" in told) == (True, True, False)


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


def test_a_short_english_question_is_answered_in_english() -> None:
    assert "Hypertension" in answer("hypertension still a problem?")


@pytest.mark.parametrize(
    ("asked", "drugs"), [("memory", "Dementia drugs"), ("bones", "Bone drugs"), ("fever", "")]
)
def test_drugs_are_meant_by_what_they_are_for(asked: str, drugs: str) -> None:
    assert class_taken_for(asked) == drugs


def test_what_was_put_in_is_no_yes_to_whether_it_is_still_in() -> None:
    coil = ViewRow(
        kind="procedure", name="Insertion of intrauterine device", status="completed",
        date="2017-01-27", sources=("Procedure/iud",),
    )  # fmt: skip
    told = answer("is the IUD still in", (coil,))

    assert "2017-01-27" in told
    assert "Yes" not in told


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
    newest = answered([question], [(question, empty)], answer_words("en"))
    assert isinstance(newest, ChartQuestion)
    assert "since" not in newest.arguments
    found = ChartView(tool="results", kind="table", title="", rows=VALUES)
    told = answered([question], [(question, empty), (newest, found)], answer_words("en"))
    assert told == (
        "Nothing of that time is in the record: potassium.\n"
        "**Potassium**: 4.2 mmol/L (3.5 – 5.1), 2020-03-04 [Observation/k-2020-03-04]"
    )


def test_how_somebody_lives_is_no_yes_to_what_else_was_asked() -> None:
    smoking = ViewRow(kind="social history", name="Tobacco smoking status", value="Never smoked",
                      sources=("Observation/s",))  # fmt: skip
    assert not answer("does she do drugs?", (smoking,)).startswith("Yes")


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
