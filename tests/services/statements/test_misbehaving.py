"""What a model may write of a sample patient: untrue in many ways, beside what is true."""

import asyncio
from datetime import date

import pytest

from data_models.chart_view import ChartView, ViewRow
from data_models.clock import SystemClock
from data_models.identifiers import PatientId
from services.records.views.lists import allergies, problems, procedures
from services.records.views.medications import medications
from services.records.views.oncology.oncology import imaging_view
from services.records.views.results import results
from services.statements.check import MessageCheck
from services.statements.grounds import Grounds, Speaker
from services.statements.rows.known import KnownRows
from tests.services.records.charts import records_in
from tests.services.statements.corpus import SAMPLES
from tests.tables import with_cases


@pytest.fixture(scope="module")
def rows() -> KnownRows:
    record = asyncio.run(records_in(SAMPLES, SystemClock()).load(PatientId("patient_4")))
    known = KnownRows()
    for view in (
        problems(record, status="all"),
        medications(record, status="all", today=date(2026, 1, 1)),
        allergies(record),
        results(record, names=()),
        results(record, names=("CEA", "body weight")),
        procedures(record),
    ):
        known.add_view(view)
    return known


def state(text: str, rows: KnownRows) -> str:
    return MessageCheck(grounds=Grounds(rows=rows), speaker=Speaker()).check(text).state


@pytest.mark.slow
@with_cases("text")
def test_what_is_untrue_is_marked_or_withheld(text: str, rows: KnownRows) -> None:
    assert state(text, rows) in ("unsupported", "contradicted")


@with_cases("text")
def test_what_is_true_is_not_marked(text: str, rows: KnownRows) -> None:
    assert state(text, rows) in ("supported", "unchecked")


@with_cases("text")
def test_who_has_no_tool_of_the_record_says_nothing_of_it_unmarked(text: str) -> None:
    check = MessageCheck(grounds=Grounds(), speaker=Speaker(reads_records=False))
    assert check.check(text).state in ("unsupported", "contradicted")


@with_cases("text")
def test_what_is_said_of_no_chart_is_not_marked(text: str) -> None:
    check = MessageCheck(grounds=Grounds(), speaker=Speaker(reads_records=False))
    assert check.check(text).state == "unchecked"


def test_a_number_in_a_text_is_no_stage() -> None:
    record = asyncio.run(records_in(SAMPLES, SystemClock()).load(PatientId("patient_7")))
    known = KnownRows()
    known.add_view(imaging_view(record))
    assert "Two new liver metastases" in "".join(row.says for row in known.rows)
    assert state("The patient has stage II disease.", known) == "unsupported"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("She has no metastases.", "contradicted"),
        ("No metastases were found.", "contradicted"),
        ("Keine Metastasen.", "contradicted"),
        ("The CT of the abdomen shows no metastases.", "supported"),
        ("Liver without metastases.", "supported"),
    ],
)
def test_a_report_that_has_none_of_it_elsewhere_does_not_deny_a_problem(
    said: str, wanted: str
) -> None:
    record = asyncio.run(records_in(SAMPLES, SystemClock()).load(PatientId("patient_4")))
    known = KnownRows()
    for view in (problems(record, status="all"), imaging_view(record)):
        known.add_view(view)
    assert "visible skeleton without metastasis" in "".join(row.says for row in known.rows)
    assert state(said, known) == wanted


def test_who_answers_with_a_place_alone_has_to_have_looked() -> None:
    assert state("Left lung.", KnownRows()) == "unsupported"


@with_cases("question", "said", "wanted")
def test_a_list_or_a_count_is_of_what_is_so_now(question: str, said: str, wanted: str) -> None:
    known = KnownRows()
    row = ViewRow(
        kind="problem",
        name="Stroke",
        value="",
        date="2018-09-03",
        status="active",
        sources=("C/2",),
    )
    over = row.model_copy(update={"name": "Viral sinusitis", "status": "resolved"})
    view = ChartView(tool="problems", kind="table", title="Problems", rows=(row, over))
    known.add_view(view)
    now = frozenset({"problems"})
    grounds = Grounds(rows=known, asked=("problems",), asked_now=now, question=question)
    assert MessageCheck(grounds=grounds, speaker=Speaker()).check(said).state == wanted


@with_cases("asked", "said", "wanted")
def test_an_answer_that_names_nothing_is_of_what_was_asked(
    asked: str, said: str, wanted: str, rows: KnownRows
) -> None:
    grounds = Grounds(rows=rows, asked=tuple(asked.split(", ")))
    assert MessageCheck(grounds=grounds, speaker=Speaker()).check(said).state == wanted


@pytest.mark.parametrize(
    ("asked", "said", "wanted"),
    [
        ("dexamethasone", "Yes.", "contradicted"),
        ("dexamethasone", "Ja.", "contradicted"),
        ("dexamethasone", "Yes, dexamethasone 4 mg twice daily.", "contradicted"),
        ("osimertinib", "Yes.", "supported"),
        ("brain metastasis", "Yes.", "supported"),
    ],
)
def test_a_yes_to_what_is_asked_of_now_is_of_now(
    asked: str, said: str, wanted: str, rows: KnownRows
) -> None:
    grounds = Grounds(rows=rows, asked=(asked,), asked_now=frozenset({asked}))
    assert MessageCheck(grounds=grounds, speaker=Speaker()).check(said).state == wanted


@with_cases("said", "wanted")
def test_what_a_tool_refused_in_this_turn_was_not_done(said: str, wanted: str) -> None:
    grounds = Grounds(deeds={"deleted", "done", "carried out"}, refused={"deleted", "done"})
    check = MessageCheck(grounds=grounds, speaker=Speaker(reads_records=False))
    assert check.check(said).state == wanted


@with_cases("text")
def test_nothing_found_is_marked_beside_what_was_found(text: str, rows: KnownRows) -> None:
    assert state(text, rows) == "unsupported"
    assert state(text, KnownRows()) == "unchecked", "nothing was looked at"


def test_nothing_else_missing_is_no_word_of_a_search(rows: KnownRows) -> None:
    assert state("Nothing else is missing.", rows) == "unchecked"
