"""What agents are shown of earlier turns."""

from datetime import UTC, datetime

from data_models.chat_context import AgentMessage, Turn
from data_models.conversations.plan import Plan
from services.memory_blocks.history import first_shown, shown_answers

_NOW = datetime(2026, 3, 2, tzinfo=UTC)


def _said(agent: str, text: str, step: int | None = None) -> AgentMessage:
    return AgentMessage(
        message_id=f"{agent}-{text}"[:20], agent=agent, text=text, timestamp=_NOW,
        plan_id="plan-1" if step else None, plan_step=step,
    )  # fmt: skip


def _turn(number: int, *said: AgentMessage) -> Turn:
    return Turn(
        turn_id=number, run_id=f"run-{number}", timestamp=_NOW, user="Ann", user_message="go on",
        agent_responses=list(said),
    )  # fmt: skip


def _plan(status: str) -> Plan:
    step = {"number": 1, "agent": "Radiology", "text": "look"}
    return Plan.model_validate(
        {
            "plan_id": "plan-1", "run_id": "run-1", "status": status, "steps": [step],
            "created_at": _NOW, "updated_at": _NOW,
        }
    )  # fmt: skip


_BOARD = _turn(
    2,
    _said("Orchestrator", "Step 1 of 2: *Radiology*, look"),
    _said("Radiology", "Two lesions.", 1),
    _said("Pathology", "Adenocarcinoma.", 2),
    _said("Orchestrator", "In summary: two lesions, adenocarcinoma."),
)


def test_of_a_plan_that_is_over_later_turns_are_shown_the_close() -> None:
    for plan in (None, _plan("done")):
        assert [one.text for one in shown_answers(_BOARD, plan)] == [
            "In summary: two lesions, adenocarcinoma."
        ]


def test_what_was_said_before_the_steps_by_another_is_shown_too() -> None:
    turn = _turn(2, _said("PatientStatus", "Stage IV."), *_BOARD.agent_responses)
    assert [one.agent for one in shown_answers(turn, None)] == ["PatientStatus", "Orchestrator"]


def test_of_an_open_plan_every_step_is_shown() -> None:
    assert len(shown_answers(_BOARD, _plan("running"))) == 4


def test_steps_without_a_close_are_shown() -> None:
    turn = _turn(2, *_BOARD.agent_responses[:3])
    assert len(shown_answers(turn, None)) == 3


def test_the_window_is_measured_by_what_is_shown() -> None:
    long = _turn(1, _said("Radiology", "x" * 1_900, 1), _said("Pathology", "x" * 1_900, 2),
                 _said("Orchestrator", "Closed."))  # fmt: skip
    earlier = [long, *(_turn(number, _said("Radiology", "y" * 200)) for number in range(2, 8))]
    assert first_shown(earlier, window_chars=6_000, plan=None) == 0
