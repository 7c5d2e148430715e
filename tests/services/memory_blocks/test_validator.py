"""Every rule of the blocks: broken, it is mended where that is certain, and named either way."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from data_models.chat_context import NEXT, AgentMessage, ChatContext, Turn, TurnStatus, advance
from data_models.memory_blocks import ContextEnrichment, KeyPoint, MemoryBlocks, TopicTransition
from services.memory_blocks.limits import Rule, validate
from tests.fakes import FixedClock

NOW = FixedClock().now()
AGENTS = frozenset({"Radiology"})
Damage = Callable[[ChatContext], object]


def turn(number: int, status: TurnStatus = "COMPLETED", agent: str = "Radiology") -> Turn:
    at = NOW + timedelta(minutes=number)
    return Turn(
        turn_id=number,
        run_id=f"run_{number}",
        timestamp=at,
        user="Alice",
        user_message="What of the scan?",
        agent_responses=[
            AgentMessage(message_id=f"m{number}", agent=agent, text="Stable.", timestamp=at)
        ],
        turn_status=status,
        context_enrichment=ContextEnrichment(relevant_history=[number - 1] if number > 4 else []),
    )


def sound() -> ChatContext:
    memory = MemoryBlocks(started_at=NOW)
    memory.counts.exchanges = 6
    turns = [turn(number) for number in (4, 5, 6)]
    return ChatContext(conversation_id="c", chat_history=turns, next_turn_id=7, memory=memory)


def test_a_sound_document_stays_as_it_is() -> None:
    context = sound()
    findings = validate(context, agents=AGENTS)
    assert (findings.repaired, findings.reported) == ([], [])
    assert context == sound()


def test_the_turn_under_way_is_not_yet_counted() -> None:
    context = sound()
    set_exchanges(context, 2)
    context.chat_history[-1].run_id = "running"
    assert validate(context, agents=AGENTS, running="running").repaired == []
    assert context.memory.counts.exchanges == 2


def open_turn(context: ChatContext) -> None:
    context.chat_history[1].turn_status = "IN_PROGRESS"


def set_next_turn(context: ChatContext, number: int) -> None:
    context.next_turn_id = number


def set_exchanges(context: ChatContext, number: int) -> None:
    context.memory.counts.exchanges = number


MENDED: dict[Rule, Damage] = {
    "turn_twice": lambda context: context.chat_history.append(turn(6)),
    "turn_order": lambda context: context.chat_history.reverse(),
    "turn_counter": lambda context: set_next_turn(context, 3),
    "turn_left_open": open_turn,
    "reference": lambda context: context.chat_history[2].context_enrichment.relevant_history.extend(  # type: ignore[union-attr]
        [0, 6, 99]
    ),
    "ring": lambda context: context.memory.topic_transitions.extend(
        [TopicTransition(turn=1, topic="t", trigger="x")] * 11
    ),
    "counts": lambda context: set_exchanges(context, 1),
    "key_point_twice": lambda context: context.memory.key_points.extend(
        [KeyPoint(point_id="point_1", text="one")] * 2
    ),
}


@pytest.mark.parametrize("rule", MENDED)
def test_what_is_certain_is_mended_once_and_for_all(rule: Rule) -> None:
    context = sound()
    MENDED[rule](context)
    findings = validate(context, agents=AGENTS)
    assert (findings.repaired, findings.reported) == ([rule], [])
    again = validate(context, agents=AGENTS)
    assert (again.repaired, again.reported) == ([], [])
    assert [each.turn_id for each in context.chat_history] == [4, 5, 6]
    assert context.next_turn_id == 7


def backwards(context: ChatContext) -> None:
    context.chat_history[1].timestamp = NOW


REPORTED: dict[Rule, Damage] = {
    "turn_gap": lambda context: context.chat_history.pop(1),
    "turn_time": backwards,
    "unknown_agent": lambda context: context.chat_history.__setitem__(2, turn(6, agent="Nobody")),
}


@pytest.mark.parametrize("rule", REPORTED)
def test_what_nobody_can_know_is_reported_and_left(rule: Rule) -> None:
    context = sound()
    REPORTED[rule](context)
    damaged = context.model_copy(deep=True)
    findings = validate(context, agents=AGENTS)
    assert (findings.repaired, findings.reported) == ([], [rule])
    assert context == damaged


def test_two_turns_under_one_number_are_both_kept_and_reported() -> None:
    context = sound()
    context.chat_history.append(turn(6).model_copy(update={"run_id": "run_other"}))
    findings = validate(context, agents=AGENTS)
    assert "turn_twice" in findings.reported
    assert len(context.chat_history) == 4


def test_a_turn_that_died_is_failed_and_the_running_one_is_not() -> None:
    context = sound()
    context.chat_history[1].turn_status = "PENDING"
    context.chat_history[2].turn_status = "IN_PROGRESS"
    validate(context, agents=AGENTS, running="run_6")
    assert [one.turn_status for one in context.chat_history] == [
        "COMPLETED",
        "FAILED",
        "IN_PROGRESS",
    ]
    assert context.chat_history[1].error_code == "interrupted"


def test_a_turn_goes_through_its_states_in_their_order_only() -> None:
    ends = [status for status, following in NEXT.items() if not following]
    assert sorted(ends) == ["COMPLETED", "FAILED", "STOPPED"]
    for ended in ends:
        for other in NEXT:
            one = turn(1, ended)
            assert advance(one, other) is (other == ended)
            assert one.turn_status == ended
    pending = turn(1, "PENDING")
    assert advance(pending, "IN_PROGRESS")
    assert not advance(pending, "PENDING")
    assert advance(pending, "FAILED", error_code="e")
    assert (pending.turn_status, pending.error_code) == ("FAILED", "e")


def test_references_of_other_writers_and_fields_nobody_knows_survive() -> None:
    row = turn(5).model_dump(mode="json")
    row["context_enrichment"] = {"relevant_history": ["turn_4"], "mood": "calm"}
    memory = {"started_at": NOW.isoformat(), "weather": "fair", "key_points": [
        {"point_id": "point_1", "text": "one", "colour": "red"}]}  # fmt: skip
    read = ChatContext.model_validate(
        {"conversation_id": "c", "chat_history": [row], "next_turn_id": 6, "memory": memory}
    )
    validate(read, agents=AGENTS)
    written = read.model_dump(mode="json")
    enriched = written["chat_history"][0]["context_enrichment"]
    assert (enriched["relevant_history"], enriched["mood"]) == ([4], "calm")
    assert written["memory"]["weather"] == "fair"
    assert written["memory"]["key_points"][0]["colour"] == "red"
