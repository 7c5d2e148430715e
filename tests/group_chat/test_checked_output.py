"""What the sentences of a message are compared with, from the talk before it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from data_models.chat_context import AgentMessage, CheckedStatement, Turn
from group_chat.drafts.checked_output import StatementChecking
from group_chat.turn_context import TurnContext
from services.statements.rows.rows import KnownRow
from tests.group_chat.team_world import house_team, request_of

NOW = datetime(2030, 1, 2, tzinfo=UTC)
SAID = "The potassium was 4.1 mmol/L on 2 March 2026 [Observation/k-2]."
CHECKING = StatementChecking(team=house_team(), is_language_model=False)


def turn_after(*answers: str) -> TurnContext:
    history = tuple(_turn(number, answer) for number, answer in enumerate(answers, 1))
    request = request_of("and now?", now=NOW, history=history, principal_id="alice")
    return TurnContext(request, lambda _: None)


def _turn(number: int, answer: str) -> Turn:
    supported = CheckedStatement(
        start=0, end=len(answer), state="supported", sources=("Observation/k-2",)
    )
    said = AgentMessage(
        message_id=f"m{number}",
        agent="PatientStatus",
        text=answer,
        timestamp=NOW,
        statements=[supported],
    )
    return Turn(
        turn_id=number,
        run_id=f"run_{number}",
        timestamp=NOW,
        user="Alice",
        user_message="potassium?",
        agent_responses=[said],
        turn_status="COMPLETED",
    )


def rows_after(*answers: str) -> Sequence[KnownRow]:
    return CHECKING.of(turn_after(*answers), "PatientStatus").grounds.rows.rows


def test_what_earlier_answers_repeated_is_compared_once() -> None:
    once = rows_after(SAID)
    assert once
    assert rows_after(*[SAID] * 12) == once


def test_what_earlier_answers_said_otherwise_is_compared_too() -> None:
    other = SAID.replace("4.1", "4.5")
    assert len(rows_after(SAID, other, SAID)) == 2 * len(rows_after(SAID))
