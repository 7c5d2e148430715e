"""Finding a patient: by name, birth date and number, and nobody whose chart is closed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from data_models.clock import SystemClock
from data_models.errors import BadFrameError
from data_models.identifiers import PatientId
from services.audit.trail import NoAudit
from services.chart_access.chart_guard import ChartGuard
from services.identity.names.person import Person, PersonName, PersonNumber
from services.views.conversation_view import ConversationView, QuestionRow, RunningRow
from services.views.patient_finder import PatientFinder, course_of
from tests.bots.scripts import plan_of
from tests.fakes import ClosedCharts, GivenPeople
from tests.tables import with_cases

OWNER = "dr-ada"


def person(number: str, given: str, family: str, born: str, *, replaced_by: str = "") -> Person:
    return Person(
        patient_id=PatientId(f"patient_{number}"),
        key=f"key-{number}",
        names=(PersonName(family=family, given=(given,), text=""),),
        numbers=(PersonNumber(system="urn:mrn", value=f"48-{number}"),),
        birth_date=born,
        is_active=not replaced_by,
        replaced_by=replaced_by,
    )


PEOPLE = (
    person("4", "Margaret", "Whitfield", "1957-03-14"),
    person("15", "Margaret", "Whitfield", "1962-03-14"),
    person("33", "Ayşe", "Çelik-Sørensen", "1971-12-02"),
    person("50", "Jörg", "Müller", "1960-05-01"),
    person("51", "Joerg", "Mueller", "1980-10-10"),
    person("52", "Олена", "Іванова", "1973-03-13"),
    person("53", "Siobhán", "O'Brien", "1955-05-15"),
    person("54", "Margaret", "Whitfield", "1957-03-14", replaced_by="key-4"),
)


def finder(*, closed: str = "") -> PatientFinder:
    guard = ChartGuard(policy=ClosedCharts(closed), audit=NoAudit(), clock=SystemClock())
    return PatientFinder(directory=GivenPeople(*PEOPLE), guard=guard)


@with_cases("text", "ids")
async def test_every_word_date_and_number_that_is_written_counts(text: str, ids: list[str]) -> None:
    found = await finder().find(text, owner=OWNER)
    assert [one.patient_id for one in found.patients] == ids


async def test_namesakes_are_told_apart_by_their_birth_dates() -> None:
    found = await finder().find("margaret whitfield", owner=OWNER)
    assert {one.birth_date for one in found.patients} == {"1957-03-14", "1962-03-14"}


async def test_a_patient_whose_chart_is_closed_is_not_named() -> None:
    found = await finder(closed="patient_4").find("whitfield", owner=OWNER)
    assert [one.patient_id for one in found.patients] == ["patient_15"]


async def test_an_endless_query_is_refused_by_name() -> None:
    with pytest.raises(BadFrameError, match="q: at most 200"):
        await finder().find("x" * 201, owner=OWNER)


NOW = datetime(2030, 1, 2, tzinfo=UTC)
P4, P7 = PatientId("patient_4"), PatientId("patient_7")
QUESTION = QuestionRow(id="q", kind="compare", text="?")


def view(**changes: Any) -> ConversationView:
    usual: dict[str, Any] = {
        "chat_id": "c",
        "created_at": NOW,
        "updated_at": NOW,
        "patient_id": P4,
        "patients": [],
        "plan": None,
        "artifacts": [],
        "question": None,
        "running_turn": None,
        "queued": 0,
    }
    return ConversationView(**{**usual, **changes})


def test_an_idle_conversation_switches_and_one_that_has_the_patient_stays() -> None:
    assert course_of(P7, view(), has_draft=False, is_late=False) == "switch"
    assert course_of(P7, view(patient_id=None), has_draft=False, is_late=False) == "switch"
    assert course_of(P4, view(question=QUESTION), has_draft=True, is_late=True) == "same"
    done = view(plan=plan_of("a", status="done"))
    assert course_of(P7, done, has_draft=False, is_late=False) == "switch"


@pytest.mark.parametrize(
    "changes",
    [
        {"question": QUESTION},
        {"running_turn": RunningRow(run_id="r", started_at=NOW)},
        {"queued": 1},
        {"plan": plan_of("a", status="proposed")},
        {"plan": plan_of("a", status="running")},
    ],
)
def test_whatever_waits_or_runs_has_the_user_asked(changes: dict[str, Any]) -> None:
    assert course_of(P7, view(**changes), has_draft=False, is_late=False) == "ask"


@pytest.mark.parametrize(("has_draft", "is_late"), [(True, False), (False, True)])
def test_a_draft_or_a_line_that_was_down_has_the_user_asked(has_draft: bool, is_late: bool) -> None:
    assert course_of(P7, view(), has_draft=has_draft, is_late=is_late) == "ask"
