"""The four blocks under the seed's names, and each figure by its definition."""

from datetime import timedelta

import pytest

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.memory_blocks import (
    ContextEnrichment,
    FlowEntry,
    IntentClassification,
    KeyPoint,
    MemoryBlocks,
)
from services.language.words.talk_texts import talk_text
from services.memory_blocks.blocks import MemoryRules, accuracy, blocks_of
from services.memory_blocks.history import SHOWN_LIMIT_CHARS, shown_summary, size_chars
from services.memory_blocks.limits import POINT_CHARS, POINTS, bound
from services.memory_blocks.remembering import conclude
from services.memory_blocks.rotation import RotationRules, rotate
from services.memory_edits.places import Place
from tests.fakes import FixedClock

NOW = FixedClock().now()
RULES = MemoryRules()

UNSUPPORTED = talk_text("en", "rows_instead")


def turn(number: int, *, answer: str = "Noted.", seconds: float = 2.0, **more: object) -> Turn:
    at = NOW + timedelta(minutes=number)
    message = AgentMessage(
        message_id=f"m{number}",
        agent="Radiology",
        text=answer,
        timestamp=at + timedelta(seconds=seconds),
    )
    row = {
        "turn_id": number, "run_id": f"run_{number}", "timestamp": at, "user": "Alice",
        "user_message": "What of it?", "agent_responses": [message], "turn_status": "COMPLETED",
    }  # fmt: skip
    return Turn.model_validate(row | more)


def document(*turns: Turn, memory: MemoryBlocks | None = None) -> ChatContext:
    return ChatContext(
        conversation_id="c",
        chat_history=list(turns),
        next_turn_id=turns[-1].turn_id + 1 if turns else 1,
        memory=memory or MemoryBlocks(),
    )


def test_the_blocks_have_the_seeds_names() -> None:
    blocks = blocks_of(document(turn(1)), now=NOW, rules=RULES)
    assert list(blocks.conversation_history) == [
        "session_id",
        "turns",
        "total_turns",
        "last_updated",
    ]
    assert list(blocks.conversation_history["turns"][0]) == [
        "turn_id",
        "timestamp",
        "user_message",
        "context_enrichment",
        "intent_classification",
        "agent_response",
        "turn_status",
    ]
    assert list(blocks.active_session) == [
        "session_info",
        "conversation_state",
        "agent_context",
        "session_metadata",
    ]
    assert list(blocks.memory_metadata) == [
        "memory_usage",
        "archival_info",
        "performance_metrics",
        "system_flags",
    ]


def test_several_answers_are_a_list_and_one_is_itself() -> None:
    two = turn(1)
    two.agent_responses.append(two.agent_responses[0].model_copy(update={"text": "And more."}))
    row = blocks_of(document(two), now=NOW, rules=RULES).conversation_history["turns"][0]
    assert [one["content"] for one in row["agent_responses"]] == ["Noted.", "And more."]
    assert "agent_response" not in row


def test_totals_count_what_is_archived_and_sizes_what_is_here() -> None:
    context = document(turn(8), turn(9))
    metadata = blocks_of(context, now=NOW, rules=RULES).memory_metadata
    assert metadata["archival_info"]["total_archived_turns"] == 7
    assert metadata["memory_usage"]["conversation_history"]["turns_stored"] == 2
    history = blocks_of(context, now=NOW, rules=RULES).conversation_history
    assert history["total_turns"] == 9


def test_figures_follow_their_definitions() -> None:
    enriched = ContextEnrichment(enriched_message="x")
    sure = IntentClassification(intent="A", confidence=0.9)
    context = document(
        turn(1, answer="Since when?", seconds=1, context_enrichment=enriched),
        turn(2, seconds=3, context_enrichment=enriched, intent_classification=sure),
        turn(3, seconds=5),
        turn(4, turn_status="FAILED", agent_responses=[]),
    )
    context.memory.counts.updates, context.memory.counts.failed_updates = 8, 2
    context.memory.key_points = [KeyPoint(point_id="p", text="Allergy: no", source="person")]
    context.memory.next_points = 11
    context.memory.counts.generation_seconds = [0.2, 0.4]
    blocks = blocks_of(context, now=NOW, rules=RULES)
    session = blocks.active_session["session_metadata"]
    assert session["average_response_time"] == 3.0
    assert session["context_quality_score"] == 0.67
    figures = blocks.memory_metadata["performance_metrics"]
    assert figures["memory_update_success_rate"] == 75.0
    assert figures["context_accuracy_score"] == 0.9
    assert figures["avg_context_generation_time"] == 0.3


@pytest.mark.parametrize(
    ("after", "epoch", "status"),
    [(29, 0, "ACTIVE"), (31, 0, "PAUSED"), (1, 1, "ENDED"), (31, None, "PAUSED")],
)
def test_a_session_pauses_when_idle_and_ends_with_a_clear(
    after: int, epoch: int | None, status: str
) -> None:
    context = document(turn(0))
    blocks = blocks_of(context, now=NOW + timedelta(minutes=after), rules=RULES, epoch=epoch)
    assert blocks.active_session["session_info"]["status"] == status


def test_the_summary_tells_who_came_in_and_what_was_said_without_markup() -> None:
    handed = turn(2, answer="**Imaging**\n- 2025 **CT**: stable")
    first = handed.agent_responses[0].model_copy(update={"agent": "Orchestrator"})
    handed.agent_responses.insert(0, first)
    context = document(turn(1), handed)
    conclude(context, handed)
    lines = blocks_of(context, now=NOW, rules=RULES).context_summary.splitlines()
    assert "→ Routed to Orchestrator, then Radiology" in lines
    assert "→ Agent said: Imaging" in lines


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("Plan:\n1. *Radiology*: look\n\nShall I go on?", "→ Agent asked: Shall I go on?"),
        (f"It is 4.\n\n{UNSUPPORTED}\n\n**Creatinine**: 0.9 mg/dL",
         "→ Agent said: Creatinine: 0.9 mg/dL"),
    ],
)  # fmt: skip
def test_the_summary_tells_the_question_alone_and_no_words_without_support(
    answer: str, told: str
) -> None:
    context = document(said := turn(1, answer=answer))
    conclude(context, said)
    assert told in blocks_of(context, now=NOW, rules=RULES).context_summary.splitlines()


def test_flags_say_how_full_it_is() -> None:
    few = blocks_of(document(turn(1)), now=NOW, rules=RULES).memory_metadata["system_flags"]
    assert (few["archival_ready"], few["emergency_mode"]) == (False, False)
    many = document(*(turn(number) for number in range(1, 19)))
    assert blocks_of(many, now=NOW, rules=RULES).memory_metadata["system_flags"]["archival_ready"]
    large = document(*(turn(number, answer="x" * 10_100) for number in (1, 2, 3)))
    large.chat_history = list(rotate(large.chat_history).kept)
    flags = blocks_of(large, now=NOW, rules=RULES).memory_metadata["system_flags"]
    assert flags["emergency_mode"]


def test_switches_of_the_settings_are_told_and_hold() -> None:
    rules = MemoryRules(rotation=RotationRules(enabled=False), validation=False)
    turns = [turn(number, answer="x" * 1_200) for number in range(1, 21)]
    assert not rotate(turns, rules=rules.rotation).archived
    assert rotate(turns).archived
    flags = blocks_of(document(*turns), now=NOW, rules=rules).memory_metadata["system_flags"]
    assert not flags["memory_rotation_enabled"]
    assert not flags["context_validation_enabled"]


def test_sessions_of_any_conversation_have_a_short_id_without_escapes() -> None:
    context = document(turn(1))
    context.conversation_id = "\x01" * 3_000
    blocks = blocks_of(context, now=NOW, rules=RULES)
    assert len(blocks.conversation_history["session_id"]) <= 250
    assert size_chars(blocks.active_session) <= 4_000


def test_agents_are_shown_points_and_turns_they_do_not_see_themselves() -> None:
    memory = MemoryBlocks(
        flow=[FlowEntry(turn_id=n, at=NOW, said=f"said {n}.", topic="ct") for n in range(1, 30)],
        key_points=[
            KeyPoint(point_id="point_1", text="Allergy: penicillin"),
            KeyPoint(point_id="point_2", text="Allergy: none", status="retired"),
        ],
    )
    bound(memory)
    context = document(turn(29), memory=memory)
    shown = shown_summary(context, before=20)
    assert len(shown) <= SHOWN_LIMIT_CHARS
    assert "said 19." in shown
    assert "said 20." not in shown
    assert "Turns 1-5: Ct" in shown
    assert "penicillin" in shown
    assert "Allergy: none" not in shown


def test_what_agents_are_shown_of_earlier_turns_stays_while_the_talk_goes_on() -> None:
    flow = [FlowEntry(turn_id=1, at=NOW, said="said 1.", routed="Routed to A", answered="Seen.")]
    shown = [
        shown_summary(
            document(turn(3), memory=MemoryBlocks(flow=flow, active_topic=topic)), before=2
        )
        for topic in ("ct", "allergy")
    ]
    assert shown == ["Turn 1: said 1. → Seen."] * 2


def test_what_people_wrote_outlives_what_is_dropped_for_room() -> None:
    own = KeyPoint(point_id="point_1", text="By hand", source="person")
    others = [KeyPoint(point_id=f"point_{n}", text="患" * 160) for n in range(2, 60)]
    memory = MemoryBlocks(key_points=[own, *others])
    bound(memory)
    assert memory.key_points[0] == own
    assert len(memory.key_points) <= POINTS


def test_what_is_held_stays_whole_and_what_gave_way_is_shortened() -> None:
    held = KeyPoint(point_id="point_1", text="Intake: " + "a" * 290, source="person")
    older = held.model_copy(update={"point_id": "point_2", "status": "superseded"})
    memory = MemoryBlocks(key_points=[held, older])
    bound(memory)
    assert [len(one.text) for one in memory.key_points] == [298, POINT_CHARS]
    memory.key_points[0].text = "Intake: " + "a" * 990
    assert "Intake: aaa" in shown_summary(document(turn(1), memory=memory))


def test_what_turns_say_is_not_kept_beside_them() -> None:
    stored = {"last_intent": {"intent": "A"}, "routing_history": ["B"], "weather": "fair"}
    assert set(MemoryBlocks.model_validate(stored).model_extra or ()) == {"weather"}


def test_what_a_person_corrects_lowers_the_accuracy_until_it_is_undone() -> None:
    point = KeyPoint(point_id="point_1", text="Allergy: penicillin", turn_id=1)
    context = document(turn(1), memory=MemoryBlocks(key_points=[point]))
    context.memory.next_points = 5
    place = Place("point", ("point_1",))
    before = place.read(context)
    assert before is not None
    for change in (place.corrected(before, "Allergy: none", now=NOW), place.retired(before)):
        place.write(context, change, now=NOW)
        assert accuracy(context.memory) == 0.75
        place.write(context, before, now=NOW)
        assert accuracy(context.memory) == 1.0
