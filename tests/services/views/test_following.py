"""Where a record system's patient may be opened at once, and where the user is asked."""

from datetime import UTC, datetime
from typing import Any

import pytest

from data_models.identifiers import PatientId
from services.views.conversation_view import ConversationView, QuestionRow, RunningRow
from services.views.patient_finder import course_of
from tests.bots.scripts import plan_of

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
