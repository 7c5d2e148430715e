from datetime import UTC, datetime
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.conversations.turn_events import (
    AgentMessageFinished,
    AgentMessageStarted,
    AgentTextDelta,
)
from group_chat.drafts.draft import Draft, OutputMeter
from group_chat.turn_context import TurnContext
from services.group_chat_port import GroupChatEvent, GroupChatRequest
from tests.given import present

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
