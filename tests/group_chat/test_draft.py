"""An agent's message while it is written, and what is checked before it is shown."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.chat_context import AgentMessage, CheckedStatement, Turn
from data_models.conversations.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
)
from group_chat.drafts.draft import Draft, OutputMeter
from group_chat.drafts.statement_checking import StatementChecking
from group_chat.turn_context import TurnContext
from services.group_chat_port import GroupChatEvent, GroupChatRequest
from services.statements.rows.rows import KnownRow
from tests.given import present
from tests.group_chat.team_world import house_team, request_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def draft(limit_bytes: int = 10_000) -> tuple[Draft, list[GroupChatEvent], TurnContext]:
    events: list[GroupChatEvent] = []
    # A draft never looks at the request.
    turn = TurnContext(cast(GroupChatRequest, None), events.append)
    meter = OutputMeter(limit_bytes=limit_bytes)
    return Draft(turn=turn, agent="Radiology", message_id="m1", meter=meter), events, turn


@pytest.mark.slow
@given(st.lists(st.text(max_size=60), max_size=20), st.integers(0, 300))
def test_a_message_is_the_sum_of_its_deltas_in_the_cap(pieces: list[str], limit_bytes: int) -> None:
    one, events, _ = draft(limit_bytes)
    for piece in pieces:
        one.write(piece)
    message = one.finish(now=NOW)
    sent = "".join(event.text for event in events if isinstance(event, AgentTextDelta))
    assert sent == (message.text if message else "")
    assert len(sent.encode()) <= limit_bytes
    assert bool(events) == (message is not None)


def test_a_message_begins_with_its_first_visible_text() -> None:
    one, events, _ = draft()
    one.write("\n  ")
    assert events == []
    one.write("Hello.")
    message = present(one.finish(now=NOW))
    kinds = [type(event) for event in events]
    assert kinds == [AgentMessageStarted, AgentTextDelta, AgentMessageFinished]
    assert message.text == "Hello."


def test_a_message_without_text_leaves_nothing_behind() -> None:
    one, events, _ = draft()
    one.write('PATIENT_CONTEXT_JSON: {"patient_id":"patient_9"}')
    assert one.finish(now=NOW) is None
    assert events == []


def test_half_a_character_of_a_model_is_replaced() -> None:
    one, _, _ = draft()
    one.write("a\ud800b")
    one.settle()
    assert one.text == "a?b"


def test_a_dose_is_shown_in_the_order_in_which_it_is_written() -> None:
    one, events, _ = draft()
    one.write("Give \u202e05")
    one.write(" mg\u202c \u2067now\u2069, \u05d0\u200f.")
    message = present(one.finish(now=NOW))
    assert message.text == "Give 05 mg now, \u05d0\u200f."
    shown = [event.text for event in events if isinstance(event, AgentTextDelta)]
    assert "".join(shown) == message.text


def test_what_is_said_after_a_tool_call_is_a_paragraph_of_its_own() -> None:
    one, _, turn = draft()
    one.write("Let me look.")
    turn.tools_ok += 1
    one.write(" Here it is.")
    one.settle()
    assert one.text == "Let me look.\n\nHere it is."


def test_what_is_said_beside_each_call_of_a_tool_is_said_once() -> None:
    one, _, turn = draft()
    for _round in range(3):
        one.write("The lytic area measures 2 cm.\n\n")
        one.settle()
        turn.tools_failed += 1
    assert one.text.count("2 cm") == 1


def test_a_repair_says_nothing_twice() -> None:
    one, _, _ = draft()
    one.write("The CT is of May.")
    one.settle()
    one.repair("The CT is of May.")
    assert one.text.count("The CT is of May.") == 1
    one.repair("It shows a mass.")
    assert one.text.endswith("It shows a mass.")


LATER = datetime(2030, 1, 2, tzinfo=UTC)
SAID = "The potassium was 4.1 mmol/L on 2 March 2026 [Observation/k-2]."
CHECKING = StatementChecking(team=house_team(), is_language_model=False)


def turn_after(*answers: str) -> TurnContext:
    history = tuple(_turn(number, answer) for number, answer in enumerate(answers, 1))
    request = request_of("and now?", now=LATER, history=history, principal_id="alice")
    return TurnContext(request, lambda _: None)


def _turn(number: int, answer: str) -> Turn:
    supported = CheckedStatement(
        start=0, end=len(answer), state="supported", sources=("Observation/k-2",)
    )
    said = AgentMessage(
        message_id=f"m{number}",
        agent="PatientStatus",
        text=answer,
        timestamp=LATER,
        statements=[supported],
    )
    return Turn(
        turn_id=number,
        run_id=f"run_{number}",
        timestamp=LATER,
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
