"""What a record has in other words than the question, and what it says was never given."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import answer_words
from services.language.reading import read
from services.language.utterance import ChartQuestion, Situation
from services.records.answers.direct import answered
from services.records.rows.finding import find_series, means
from tests.tables import with_cases

SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC))


def row(kind: str, name: str, date: str = "2020-01-01", **more: object) -> ViewRow:
    source = f"Row/{name[:4]}-{date}"
    return ViewRow.model_validate(
        {"kind": kind, "name": name, "date": date, "sources": (source,), **more}
    )


def said(text: str, rows: Mapping[str, tuple[ViewRow, ...]]) -> str:
    """Answer as the built-in rules do: each list that is asked for is looked up."""
    utterance = read(text, SITUATION)
    given: list[tuple[ChartQuestion, ChartView | str]] = []
    while True:
        told = answered(utterance.about, given, answer_words(utterance.language))
        if isinstance(told, str):
            return told
        shown = rows.get(f"{told.tool} {told.name}", rows.get(told.tool, ()))
        given.append((told, ChartView(tool=told.tool, kind="table", title="", rows=shown)))
        assert len(given) < 10, told


def test_a_drug_that_was_ordered_and_never_given_is_no_yes() -> None:
    cancelled = row("medication", "Docetaxel", status="cancelled", detail="Never given.")
    assert said("did he have docetaxel", {"medications": (cancelled,)}).startswith("No: ")


def test_an_illness_is_not_had_by_who_was_vaccinated_against_it() -> None:
    told = said("has he had shingles?", {"immunizations zoster": (row("immunization", "zoster"),)})
    assert "“shingles”" in told.splitlines()[0]
    assert "Yes" not in told
    assert "**zoster**" in told


def test_whether_an_illness_cleared_up_is_no_where_it_is_active() -> None:
    active = row("problem", "Chronic sinusitis", status="active")
    assert said("did his sinusitis clear up", {"problems": (active,)}).startswith("No: ")


@pytest.mark.parametrize("text", ["what is his weight trend", "weight?"])
def test_a_value_in_a_note_is_found_in_other_words(text: str) -> None:
    note = row("note", "Urology", detail="Stream improved. Weight 85 kg.")
    assert "Weight 85 kg" in said(text, {"search_record": (note,)})


def test_both_values_of_one_moment_are_told_and_no_change_between_them() -> None:
    values = tuple(
        row("laboratory", "Creatinine", "2019-12-08", value=each, number=float(each), unit="mg/dL")
        for each in ("1.04", "3.04")
    )
    newest = said("creatinine?", {"results": values})
    assert "1.04" in newest
    assert "3.04" in newest
    assert "Overall" not in said("creatinine in 2019", {"results": values})


def test_the_average_of_pressures_has_both_figures() -> None:
    pressures = (
        row("vital sign", "Blood Pressure", "2021-03-22", value="130/90", unit="mm[Hg]"),
        row("vital sign", "Blood Pressure", "2020-03-22", value="120/80", unit="mm[Hg]"),
    )
    assert said("bp average", {"results": pressures}).startswith(
        "Average Blood Pressure: 125.0/85.0 mm[Hg] (2 values"
    )


def test_a_reason_that_stands_in_the_note_of_a_drug_is_not_called_missing() -> None:
    stopped = row(
        "medication",
        "Abiraterone",
        status="stopped",
        detail="said to take; Stopped for progression.",
    )
    told = said("why was abiraterone stopped", {"medications": (stopped,)})
    assert "Stopped for progression" in told
    assert "does not say" not in told


def test_a_value_of_the_time_of_what_is_absent_is_told_of_all_times() -> None:
    value = row("laboratory", "Hemoglobin", value="11.2", unit="g/dL")
    *absent, lead, told = said("post chemo hb", {"results": (value,)}).splitlines()
    assert "not in the record" in " ".join(absent)
    assert "of all times" in lead
    assert told == "**Hemoglobin**: 11.2 g/dL, 2020-01-01 [Row/Hemo-2020-01-01]"


def test_what_is_taken_for_an_illness_is_told_where_no_reason_is_recorded() -> None:
    told = said(
        "is her osteoporosis treated?",
        {
            "problems": (row("problem", "Osteoporosis", status="active"),),
            "medications": (
                row("medication", "Alendronic acid 10 MG", status="active"),
                row("medication", "Simvastatin 10 MG", status="active"),
            ),
        },
    )
    assert f"{answer_words('en').say('usual_for')}\n- **Alendronic acid" in told
    assert "Simvastatin" not in told


@with_cases("asked", "label", "is_meant")
def test_a_drug_is_called_by_how_its_name_begins(asked: str, label: str, is_meant: bool) -> None:
    assert means("drug", asked, label=label, codes=()) is is_meant


def test_nothing_is_found_for_a_name_of_small_words() -> None:
    assert find_series((), "in the").series == ()


@with_cases("text", "told")
def test_where_no_allergy_is_recorded_nothing_is_said_of_one(text: str, told: str) -> None:
    assert told in said(text, {})


CHEMO = (
    row("procedure", "Chemotherapy", "2018-05-28"),
    row("procedure", "Chemotherapy", "2018-10-30"),
)
COUNTS = tuple(
    row("laboratory", "Hemoglobin", day, value=f"{value}", unit="g/dL", number=value)
    for day, value in (
        ("2015-01-01", 5.1),
        ("2018-05-28", 7.6),
        ("2018-09-01", 6.3),
        ("2021-01-01", 14.2),
    )
)


@with_cases("text", "told", "silent")
def test_a_value_of_a_time_is_one_of_that_time(text: str, told: str, silent: str) -> None:
    answer = said(text, {"procedures": CHEMO, "results": COUNTS})
    assert f"{told} g/dL" in answer
    assert f"{silent} g/dL" not in answer


def test_where_a_time_has_no_days_a_value_is_not_told_as_one_of_it() -> None:
    answer = said("lowest hb during chemo", {"results": COUNTS})
    before, _, value = answer.partition("The record gives no days for that")
    assert "5.1 g/dL" in value
    assert "g/dL" not in before
    paragraphs = answer.split("\n\n")
    assert len(paragraphs) == len(set(paragraphs))


def test_a_drug_of_the_day_of_the_operation_was_given_after_it() -> None:
    rows = {
        "procedures": (row("procedure", "Repair", "2017-03-28", end="2017-03-30"),),
        "medications": (row("medication", "Meperidine", "2017-03-28", status="stopped"),),
    }
    assert "**Meperidine**" in said("opioids after surgery?", rows)


def test_what_goes_on_has_no_end_to_give_a_reason_for() -> None:
    taken = row("medication", "Naproxen", status="active")
    told = said("why did they stop naproxen?", {"medications": (taken,)})
    assert answer_words("en").say("goes_on") in told
    assert "why it ended" not in told


def test_a_vaccination_may_be_recorded_as_a_procedure() -> None:
    rows = {
        "immunizations": (row("immunization", "Td (adult)", "2019-04-13"),),
        "procedures": (
            row("procedure", "Injection of tetanus antitoxin", "2018-01-17"),
            row("procedure", "Tetanus antibody test", "2018-01-18"),
        ),
    }
    told = said("tetanus given?", rows)
    assert "2019-04-13" in told
    assert "2018-01-17" in told
    assert "antibody" not in told


def test_the_worst_of_a_value_is_either_end() -> None:
    told = said("hb worst ever", {"results": COUNTS})
    assert "5.1 g/dL" in told
    assert "14.2 g/dL" in told


def test_treatments_now_are_all_that_are_active() -> None:
    rows = tuple(
        row("medication", name, day, status=status)
        for name, day, status in (
            ("Dabrafenib", "2024-11-06", "active"),
            ("Trametinib", "2024-11-05", "active"),
            ("Nivolumab", "2023-11-07", "stopped"),
        )
    )
    told = said("current tx", {"current_status": rows})
    assert "Dabrafenib" in told
    assert "Trametinib" in told
    assert "Nivolumab" not in told


@pytest.mark.parametrize(("text", "is_hinted"), [("on xyq?", True), ("on metoprolol?", False)])
def test_a_short_form_that_nobody_knows_is_called_that(text: str, is_hinted: bool) -> None:
    assert ("no word that is known here" in said(text, {})) is is_hinted


def test_what_is_taken_by_its_beginning_is_found() -> None:
    assert means("drug", "amox", label="Amoxicillin 250 MG Oral Capsule", codes=())
    assert means("vaccine", "mening", label="meningococcal MCV4P", codes=())
    assert not means("problem", "card", label="Cardiomyopathy", codes=())


def test_what_was_not_measured_may_be_taken() -> None:
    iron = row("medication", "ferrous sulfate 325 MG Oral Tablet", status="active")
    assert "ferrous sulfate" in said("iron since - why", {"medications": (iron,)})


def test_the_age_at_which_a_value_first_passed_a_limit() -> None:
    born = row("patient", "Ada Byron", date="2013-01-16")
    weights = tuple(
        row("result", "Body Weight", date, value=str(kg), number=kg, unit="kg")
        for date, kg in (("2013-04-01", 6.0), ("2014-03-26", 10.5), ("2015-03-26", 12.5))
    )
    told = said(
        "how old was she when her weight first exceeded 10 kg",
        {"chart_summary": (born,), "results": weights},
    )
    assert "(2014-03-26): at the age of 1" in told
    assert "2013-04-01" not in told


@pytest.mark.parametrize("text", ["any chronic problems?", "Welche Diagnosen hat er?"])
def test_where_no_problem_is_active_those_that_are_over_are_told(text: str) -> None:
    over = (row("problem", "Otitis media", status="resolved", end="2020-02-01"),)
    utterance = read(text, SITUATION)
    none = ChartView(tool="problems", kind="table", title="", rows=())
    whole = ChartView(tool="problems", kind="table", title="", rows=over)
    words = answer_words(utterance.language)
    asked = answered(utterance.about, [(utterance.about[0], none)], words)
    assert isinstance(asked, ChartQuestion)
    assert asked.arguments == {"status": "all"}
    told = answered(utterance.about, [(utterance.about[0], none), (asked, whole)], words)
    assert isinstance(told, str)
    assert told.startswith(words.say("no_problems"))
    assert "**Otitis media**" in told


def test_the_diagnosis_of_an_illness_is_of_none_that_it_causes() -> None:
    diabetes = row("problem", "Diabetes", date="1991-04-18", status="active")
    due = row("problem", "Microalbuminuria due to diabetes", date="2004-09-09", status="active")
    told = said("a1c at diagnosis of diabetes", {"problems": (diabetes, due)})
    assert told.startswith("**Diabetes**")


PREGNANCIES = row("problem", "Normal pregnancy", "2017-01-07", end="2017-08-19", status="resolved",
                  detail="recorded 2 times, last 2017-01-07, before 2014-11-22–2015-06-20",
                  code=("http://snomed.info/sct|72892002",))  # fmt: skip
BLOOD = tuple(
    row("laboratory", "Hemoglobin", day, value=value, number=float(value), unit="g/dL")
    for day, value in (("2018-05-19", "13.2"), ("2015-05-16", "11.6"), ("2012-05-12", "12.1"))
)


@with_cases("text", "is_told", "is_not")
def test_what_was_during_several_times_of_an_illness_is_told_of_each(
    text: str, is_told: str, is_not: str
) -> None:
    told = said(text, {"problems": (PREGNANCIES,), "results": BLOOD})
    assert is_told in told
    assert is_not not in told


@with_cases("text", "is_told")
def test_the_code_that_something_is_recorded_with_is_told(text: str, is_told: str) -> None:
    assert is_told in said(text, {"problems": (PREGNANCIES,), "results": BLOOD})


@with_cases("text", "is_told", "is_not")
def test_where_it_is_a_word_that_nobody_knows_it_alone_is_absent(
    text: str, is_told: str, is_not: str
) -> None:
    told = said(text, {})
    assert is_told in told
    assert is_not not in told


def test_what_was_given_for_anything_and_is_over_is_no_yes() -> None:
    rows = {
        "medications": (row("medication", "Amoxicillin", "2014-08-09", status="stopped"),),
        "problems": (row("problem", "Acute viral pharyngitis", "2019-04-16", status="resolved"),),
    }
    told = said("did she need antibiotics for the sore throat", rows)
    assert "Amoxicillin" in told
    assert "Yes" not in told


@pytest.mark.parametrize(
    ("text", "told", "silent"),
    [
        ("why ibuprofen in 2013", "Otitis media", "Fracture"),
        ("why ibuprofen in 2011", "Fracture", "Otitis"),
        ("Warum Ibuprofen 2013?", "Otitis media", "Fracture"),
    ],
)
def test_the_reason_of_one_prescription_is_of_its_day(text: str, told: str, silent: str) -> None:
    again = "2 prescriptions since 2011-06-22, last 2013-10-23"
    rows = {
        "medications": (row("medication", "Ibuprofen", "2011-06-22", detail=again),),
        "problems": (row("problem", "Otitis media", "2013-10-23"),
                     row("problem", "Fracture of clavicle", "2011-06-22")),
    }  # fmt: skip
    answer = said(text, rows)
    assert told in answer
    assert silent not in answer


@pytest.mark.parametrize("text", ["icd code for her gout?", "snomed gout", "ICD-Code der Gicht?"])
def test_codes_are_told_with_their_system(text: str) -> None:
    gout = row("problem", "Gout", status="active", code=("http://snomed.info/sct|90560007",))
    assert "SNOMED CT 90560007" in said(text, {"problems": (gout,)})


@pytest.mark.parametrize("text", ["how was the gout found", "what triggered the gout"])
def test_how_an_illness_was_found_is_told_by_what_was_done_that_day(text: str) -> None:
    rows = {
        "problems": (row("problem", "Gout", "2020-03-04", status="active"),),
        "encounters": (row("encounter", "Check-up", "2020-03-04"),
                       row("encounter", "Office visit", "2021-03-04")),
    }  # fmt: skip
    told = said(text, rows)
    assert "does not say" in told
    assert "Check-up" in told
    assert "Office visit" not in told


def test_an_illness_that_was_recorded_once_is_dated_by_its_emergencies_too() -> None:
    visits = tuple(
        row("encounter", name, day, value=kind, detail="for Gout")
        for name, kind, day in (
            ("Emergency admission", "emergency", "2012-12-15"),
            ("Emergency admission", "emergency", "1993-11-18"),
            ("Follow-up", "ambulatory", "2015-01-01"),
        )
    )
    gout = row("problem", "Gout", "1993-11-18", status="active")
    told = said("gout - when", {"problems": (gout,), "encounters": visits})
    assert "2012-12-15" in told
    assert "Follow-up" not in told


def test_a_scan_without_a_report_does_not_say_what_it_showed() -> None:
    scan = row("imaging study", "Digital Radiography", detail="Chest")
    assert "what it showed" in said("what did the chest x-ray show", {"imaging_reports": (scan,)})
