"""Kinds of wrong sentences, each beside a right one, over one small chart."""

import pytest

from data_models.chart_view import ChartView, ViewRow
from services.language.statements import read_sentence
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.known import KnownRows
from tests.tables import with_cases

ROWS = (
    ViewRow(
        kind="laboratory", name="Carcinoembryonic antigen (CEA)", value="9.7", number=9.7,
        unit="ng/mL", date="2025-05-19", sources=("Observation/cea-3", "Observation/cea-2"),
        detail="↑ from 3.1 ng/mL (2024-09-16)",
    ),
    ViewRow(
        kind="fact", name="stage", value="IVB", date="2025-05-23",
        detail="earlier: IVA (2024-03-06) [Observation/stage-1]",
        sources=("DocumentReference/note-7", "Observation/stage-1"),
    ),
    ViewRow(
        kind="vital sign", name="Body weight", value="63.9", number=63.9, unit="kg",
        date="2025-05-20", sources=("Observation/weight-2",),
    ),
    ViewRow(
        kind="genetic finding", name="KRAS", value="Absent", date="2024-03-11",
        sources=("Observation/kras-1",),
    ),
    ViewRow(
        kind="genetic finding", name="MET amplification", value="Present, MET/CEP7 ratio 4.6",
        date="2025-05-27", sources=("Observation/met-1",),
    ),
    ViewRow(
        kind="problem", name="Adenocarcinoma of the right upper lobe of lung", status="active",
        date="2024-02-19", sources=("Condition/lung-cancer",),
    ),
    ViewRow(
        kind="problem", name="Metastasis to brain", status="active", date="2025-05-12",
        detail="Left frontal lobe and right cerebellum", sources=("Condition/brain-mets",),
    ),
    ViewRow(
        kind="medication", name="Pantoprazole", value="20 mg once daily", status="active",
        detail="for Protection of the stomach under dexamethasone",
        sources=("MedicationStatement/pantoprazole",),
    ),
    ViewRow(
        kind="medication", name="Dexamethasone", value="4 mg twice daily", status="completed",
        date="2025-05-14", sources=("MedicationRequest/dexamethasone",),
    ),
    ViewRow(
        kind="patient", name="Margaret Anne Whitfield", value="female, 69 years",
        date="1957-03-14", sources=("Patient/patient-4",),
    ),
    ViewRow(
        kind="social history", name="Tobacco smoking status", value="Never smoked tobacco",
        date="2024-03-06", sources=("Observation/smoking-1",),
    ),
)  # fmt: skip


def state(text: str, *, reads_records: bool = True, deeds: frozenset[str] = frozenset()) -> str:
    rows = KnownRows()
    rows.add_view(ChartView(tool="current_status", kind="facts", title="Status", rows=ROWS))
    check = MessageCheck(
        grounds=Grounds(rows=rows, deeds=set(deeds)), speaker=Speaker(reads_records=reads_records)
    )
    return check.check(text).state


@with_cases("text", "wanted")
def test_a_value_is_of_its_day_and_its_course(text: str, wanted: str) -> None:
    assert state(text) == wanted


@with_cases("text", "wanted")
def test_what_is_absent_is_not_present(text: str, wanted: str) -> None:
    assert state(text) == wanted


@with_cases("text", "wanted")
def test_a_side_stands_beside_the_same_words(text: str, wanted: str) -> None:
    assert state(text) == wanted


@with_cases("text", "wanted")
def test_a_cited_source_holds_the_value(text: str, wanted: str) -> None:
    assert state(text) == wanted


@with_cases("text")
def test_no_deed_is_claimed_that_no_tool_did(text: str) -> None:
    assert state(text, reads_records=False) == "contradicted"


@with_cases("text")
def test_what_is_no_claim_of_a_deed_is_shown(text: str) -> None:
    assert state(text, reads_records=False) == "unchecked"


def test_a_deed_that_a_tool_did_may_be_told() -> None:
    done = frozenset({"booked", "done"})
    assert state("Done. ", reads_records=False, deeds=done) == "unchecked"
    assert state("Der Termin wurde gebucht.", reads_records=False, deeds=done) == "unchecked"


def states(text: str) -> list[str]:
    """Return the verdicts over the lines of a message."""
    rows = KnownRows()
    rows.add_view(ChartView(tool="current_status", kind="facts", title="Status", rows=ROWS))
    check = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker())
    return [check.check(line).state for line in text.splitlines()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "Current medications:\n- Fexofenadine\n- Pantoprazole 20 mg",
            ["unsupported", "supported"],
        ),
        ("**Current drugs**\n* Xyzal", ["unsupported"]),
        ("She takes:\n1. Pantoprazole\n2. Fexofenadine 180 mg", ["supported", "unsupported"]),
        ("Medikamente:\n- Fexofenadin", ["unsupported"]),
        (
            "| Drug | Dose |\n| Pantoprazole | 20 mg |\n| Zyrtec | 5 mg |",
            ["supported", "unsupported"],
        ),
        ("I can do this:\n- Look up the imaging", ["unchecked"]),
    ],
)
def test_a_name_that_nobody_knows_is_a_statement_in_a_list(text: str, wanted: list[str]) -> None:
    assert states(text)[1:] == wanted


def test_a_name_that_nobody_knows_is_a_statement_behind_a_colon() -> None:
    assert states("Medications: pantoprazole, fexofenadine") == ["unsupported"]
    assert states("Medications: pantoprazole") == ["supported"]


@with_cases("text", "wanted")
def test_it_is_this_patient_and_this_drug(text: str, wanted: str) -> None:
    assert state(text) == wanted


def test_the_name_of_a_test_is_no_source() -> None:
    rows = KnownRows()
    name = "Hemoglobin [Mass/volume] in Blood"
    row = ViewRow(
        kind="laboratory", name=name, value="15.1", number=15.1, unit="g/dL", date="2024-11-28",
        sources=("Observation/hb",),
    )  # fmt: skip
    rows.add_view(ChartView(tool="results", kind="table", title="Results", rows=(row,)))
    check = MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker())
    found = check.check(f"**{name}**: 15.1 g/dL, 2024-11-28 [Observation/hb]")
    assert found.state == "supported"
    assert read_sentence(f"{name} [Observation/hb]").refs == ("Observation/hb",)


@with_cases("sentence")
def test_what_no_row_has_a_word_of_is_not_said_of_the_patient_unmarked(sentence: str) -> None:
    assert state(sentence) == "unsupported"


@with_cases("sentence")
def test_what_states_nothing_of_her_is_not_marked(sentence: str) -> None:
    assert state(sentence) == "unchecked"
