"""What is shown of a talk: its blocks and window, without what was corrected (spec page 12.1)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.conversations.plan import Plan
from data_models.identifiers import storage_folder
from data_models.memory_blocks import (
    NOTE,
    RING,
    Block,
    FlowEntry,
    IntentClassification,
    KeyPoint,
    TopicSpan,
)
from services.language.told.held_statements import stated_in
from services.memory_blocks import limits

HEADING = "Said of this patient by users in this conversation; not from the record:"
_WITHDRAWN = "[withdrawn]"
SHOWN_LIMIT = 30


def held_lines(context: ChatContext) -> str:
    """Return the statements that are held, the newest last; "" while there are none."""
    held = [one for one in context.memory.key_points if one.status == "active"][-SHOWN_LIMIT:]
    return "\n".join([HEADING, *map(_line, held)]) if held else ""


def shown_history(context: ChatContext, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return `turns` without the words of statements that were corrected or withdrawn."""
    gone = [one for one in context.memory.key_points if is_withdrawn(one)]
    return tuple(_without(turn, gone) for turn in turns) if gone else tuple(turns)


def _without_withdrawn(context: ChatContext, text: str) -> str:
    """Return `text` without the words of statements that were corrected or withdrawn."""
    for point in context.memory.key_points:
        if is_withdrawn(point):
            text = _replaced(text, point)
    return text


def said_now(point: KeyPoint) -> str:
    """Return the words of a held statement: those that said it, if they say all of it."""
    value = point.text.partition(": ")[2]
    if is_withdrawn(point) or not point.quote:
        return point.text
    is_whole = point.source == "model" or value.casefold() in point.quote.casefold() or "(" in value
    alone = (one for one in stated_in(point.quote) if one.only_if_held)  # "no, 138/70": of what?
    is_whole &= not any(one.corrects for one in alone)
    return point.quote if is_whole else value if point.kind == NOTE else point.text


def is_withdrawn(point: KeyPoint) -> bool:
    """Whether the words that once said it must not be shown any more."""
    is_corrected = point.source == "person" and bool(point.was)
    return bool(point.quote) and (is_corrected or point.status in ("retired", "superseded"))


def _line(point: KeyPoint) -> str:
    if point.source == "person":
        return f"- {point.text} (as a user put it right)" if point.was else f"- {point.text}"
    if point.kind == NOTE and not point.quote:
        return f"- {point.text} (noted by {point.said_by} from the user's answers)"
    by = point.said_by or "a user"
    said = ", ".join(filter(None, (by, point.said_on, f"turn {point.turn_id}")))
    return f"- {point.text} ({said}: “{point.quote}”)"


def _without(turn: Turn, gone: Sequence[KeyPoint]) -> Turn:
    said, answers = turn.user_message, list(turn.agent_responses)
    for point in gone:
        said = _replaced(said, point)
        answers = [_answer_without(answer, point) for answer in answers]
    if said == turn.user_message and answers == turn.agent_responses:
        return turn
    return turn.model_copy(update={"user_message": said, "agent_responses": answers})


def _answer_without(answer: AgentMessage, point: KeyPoint) -> AgentMessage:
    text = _replaced(answer.text, point)
    return answer if text == answer.text else answer.model_copy(update={"text": text})


def _replaced(text: str, point: KeyPoint) -> str:
    """Replace the quote however its words are spaced and however it ends."""
    if not (words := point.quote.strip(" .!;").split()):
        return text
    quote = r"\s+".join(map(re.escape, words))
    new = f"[corrected: {point.text}]" if point.status == "active" else _WITHDRAWN
    return re.sub(quote, lambda _: new, text, flags=re.IGNORECASE)


# Which earlier turns agents are shown: the newest, from a beginning that seldom moves.

LONG_MESSAGE_SHARE = 3
_EARLIER_SHARE = 2 / 3  # the rest is for the user's message and this turn's answers
_BLOCK_TURNS = 64


def first_shown(earlier: Sequence[Turn], *, window_chars: int, plan: Plan | None = None) -> int:
    """Return the place in `earlier` of the oldest turn within a window of `window_chars`.

    Where the window is full its beginning moves on by half of it at once: prompts of the turns
    that follow begin alike, and their server has read that beginning already. It depends on no
    more than the last 128 turns.

    Args:
        plan: The patient's plan; see `shown_answers`.
    """
    if not earlier:
        return 0
    limit, longest = int(window_chars * _EARLIER_SHARE), window_chars // LONG_MESSAGE_SHARE
    last = earlier[-1].turn_id
    block = max(0, last // _BLOCK_TURNS - 1) * _BLOCK_TURNS
    start = next(place for place, one in enumerate(earlier) if one.turn_id >= block)
    sizes = {place: _size(earlier[place], longest, plan) for place in range(start, len(earlier))}
    shown = 0
    for place, size in sizes.items():
        shown += size
        if shown > limit:
            while shown > limit // 2 and start < place:
                shown -= sizes[start]
                start += 1
    return start


def shown_answers(turn: Turn, plan: Plan | None) -> Sequence[AgentMessage]:
    """Return the answers of an earlier turn that agents are shown: of a plan's end, its close.

    The close says what every step found, with its sources; all else recall finds. While `plan`
    is open its steps are shown whole.
    """
    said = turn.agent_responses
    if len(said) < 2:
        return said
    steps = [place for place, one in enumerate(said) if one.plan_step is not None]
    if not steps or steps[-1] == len(said) - 1:
        return said
    if plan is not None and plan.is_open and said[steps[0]].plan_id == plan.plan_id:
        return said
    lead = said[-1].agent
    return [*(one for one in said[: steps[0]] if one.agent != lead), *said[steps[-1] + 1 :]]


def _size(turn: Turn, longest: int, plan: Plan | None) -> int:
    said = turn.agent_responses
    shown = shown_answers(turn, plan) if len(said) > 1 else said
    return sum([min(longest, len(text)) for text in [turn.user_message, *[a.text for a in shown]]])


# How long a block is, and how long it may be: the one measure (spec page 4.1).

HISTORY_LIMIT_CHARS = 32_000
SESSION_LIMIT_CHARS = 4_000
SUMMARY_LIMIT_CHARS = 8_000


def size_chars(block: Any) -> int:
    """Return the length of a block, or of a part of one: of the text itself, or compact JSON."""
    return len(block if isinstance(block, str) else orjson.dumps(block).decode())


def utilization_percent(size: int, limit: int) -> float:
    """Return `size` in percent of `limit`, to one decimal."""
    return round(size / limit * 100, 1)


HEADER_CHARS = 400
"""The most that the block holds beside its turns."""
_PLAIN_ID_CHARS = 120


def session_id_of(context: ChatContext) -> str:
    """Return the id that all blocks of a document carry: the conversation's, if it is short."""
    plain = context.conversation_id
    short = len(plain) <= _PLAIN_ID_CHARS and plain.isascii() and plain.isprintable()
    return plain if short and '"' not in plain and "\\" not in plain else storage_folder(plain)


def turn_row(turn: Turn) -> dict[str, Any]:
    """Return a turn as the block holds it: one answer by itself, several as a list."""
    enriched, intent = turn.context_enrichment, turn.intent_classification
    row: dict[str, Any] = {
        "turn_id": turn.turn_id,
        "timestamp": limits.iso(turn.timestamp),
        "user_message": {"content": turn.user_message, "message_id": turn.run_id},
        "context_enrichment": enriched
        and {
            "previous_context": enriched.previous_context,
            "enriched_message": enriched.enriched_message,
            "relevant_history": [*enriched.relevant_history],
        },
        "intent_classification": intent
        and {
            "intent": intent.intent,
            "confidence": intent.confidence,
            "reasoning": intent.reasoning,
        },
    }
    answers = [
        {"agent_type": one.agent, "content": one.text, "response_id": one.message_id}
        for one in turn.agent_responses
    ]
    one = answers[0] if answers else None
    row |= {"agent_responses": answers} if len(answers) > 1 else {"agent_response": one}
    row["turn_status"] = turn.turn_status
    return row


def last_intent(turns: Sequence[Turn]) -> IntentClassification | None:
    """Return how the newest turn was understood that was; a call for help is not."""
    read = (turn.intent_classification for turn in reversed(turns))
    return next((one for one in read if one is not None), None)


def routing_of(turns: Sequence[Turn]) -> list[str]:
    """Return who spoke last in each of the newest answered turns, at most 10."""
    return [turn.agent_responses[-1].agent for turn in turns if turn.agent_responses][-RING:]


def conversation_history(context: ChatContext) -> Block:
    """Return the block; `total_turns` counts the archived turns too."""
    updated = last_updated(context)
    return {
        "session_id": session_id_of(context),
        "turns": [turn_row(turn) for turn in context.chat_history],
        "total_turns": context.next_turn_id - 1,
        "last_updated": None if updated is None else limits.iso(updated),
    }


def last_updated(context: ChatContext) -> datetime | None:
    """Return when the newest turn was answered, or came; None while there is none."""
    if not context.chat_history:
        return None
    last = context.chat_history[-1]
    return last.agent_responses[-1].timestamp if last.agent_responses else last.timestamp


SHOWN_LIMIT_CHARS = 2_000
"""What agents are shown of it, before the window of newest turns (spec page 4.3)."""
_NAME_CHARS = 80
_NOTED, _NONE = "Noted:", "• Nothing noted yet"


def context_summary(context: ChatContext) -> str:
    """Return the block, at most 8,000 characters: the newest points and turns that fit."""
    user = (
        limits.one_line(context.chat_history[-1].user, _NAME_CHARS) if context.chat_history else "-"
    )
    started = context.memory.started_at
    head = (
        f"Session: {session_id_of(context)} | User: {user} | "
        f"Started: {'-' if started is None else limits.iso(started)}\n\n"
    )
    body = _body(context, context.memory.flow, limit_chars=SUMMARY_LIMIT_CHARS - len(head))
    first, _, rest = body.partition("\n")
    return f"{first}\n{head}{rest}"


def shown_summary(context: ChatContext, *, before: int | None = None) -> str:
    """Return what agents are shown, at most 2,000 characters; "" while there is nothing.

    Turns that they no longer see, and what is noted: nothing that the talk itself tells, so that it
    stays as it is until the window moves on.

    Args:
        before: Leave out turns from this number on, which the agents see themselves.
    """
    memory = context.memory
    flow = [one for one in memory.flow if before is None or one.turn_id < before]
    if not flow and not memory.earlier and not memory.key_points:
        return ""
    held = [one for one in memory.key_points if one.status == "active"]
    noted = [f"• {limits.one_line(one.text, limits.POINT_CHARS)}" for one in held]
    points = list(_fitting(list(reversed(noted)), SHOWN_LIMIT_CHARS // 2))[::-1]
    room = SHOWN_LIMIT_CHARS - sum(len(one) + 1 for one in points) - len(_NOTED) - 1
    flow_lines = _without_withdrawn(context, _flow(memory.earlier, flow, room, entry=_brief_entry))
    return "\n".join([flow_lines, *([_NOTED, *points] if points else [])])


def _body(context: ChatContext, flow: Sequence[FlowEntry], *, limit_chars: int) -> str:
    """Return the layout without its session; older turns give way first."""
    memory = context.memory
    agent = (routing_of(context.chat_history) or ["-"])[-1]
    top = (
        "=== CONVERSATION SUMMARY ===\n"
        f"CURRENT TOPIC: {limits.title(memory.active_topic) or '-'}\n"
        f"ACTIVE AGENT: {agent}\n"
        f"CONVERSATION PHASE: {limits.title(memory.conversation_phase) or '-'}\n\n"
        "--- CONVERSATION FLOW ---\n"
    )
    room = limit_chars - len(top) - 120
    topics = _bullets(next_topics(context), room // 8)
    points = _bullets(
        [one.text for one in memory.key_points if one.status == "active"],
        room // 2 - len(topics),
        newest=True,
    )
    flow_lines = _flow(memory.earlier, flow, room - len(points) - len(topics), entry=_entry)
    flow_lines = _without_withdrawn(context, flow_lines)
    return (
        f"{top}{flow_lines}\n\n--- KEY CONTEXT POINTS ---\n{points}\n\n"
        f"--- NEXT LIKELY TOPICS ---\n{topics}"
    )


def next_topics(context: ChatContext) -> list[str]:
    """Return what may come next: the answer to the last question, steps, what is usually asked."""
    understood = [one for one in context.chat_history if one.intent_classification is not None]
    answers = understood[-1].agent_responses if understood else []
    question, plan = limits.last_question(answers[-1].text) if answers else "", context.plan
    topics = [f"Answer to: {question}"] if question else []
    if plan is not None and plan.is_open:
        topics += [f"{one.agent}: {one.text}" for one in plan.steps if one.status == "pending"]
    if context.memory.conversation_phase == "symptom_evaluation":
        points = " ".join(one.text.casefold() for one in context.memory.key_points)
        topics += [text for aspect, text in _ASPECTS.items() if aspect not in points]
    return [limits.one_line(topic, limits.LINE_CHARS) for topic in topics[: limits.NEXT_TOPICS]]


# What is usually asked about a complaint, in this order.
_ASPECTS: Mapping[str, str] = {
    "severity": "How severe it is (0-10)",
    "duration": "How long it has lasted",
    "onset": "When and how it began",
    "associated": "Associated symptoms",
    "triggers": "Possible triggers",
    "medication": "Current medication",
    "history": "Earlier episodes and medical history",
}


def _bullets(lines: Sequence[str], room: int, *, newest: bool = False) -> str:
    ordered = list(reversed(lines)) if newest else list(lines)
    kept = list(_fitting([f"• {line}" for line in ordered], room))
    return "\n".join(reversed(kept) if newest else kept) or _NONE


def _flow(
    earlier: Sequence[TopicSpan],
    flow: Sequence[FlowEntry],
    room: int,
    *,
    entry: Callable[[FlowEntry], str],
) -> str:
    spans = [f"Turns {span.first}-{span.last}: {limits.title(span.topic)}" for span in earlier]
    kept = list(_fitting([entry(one) for one in reversed(flow)], room))
    left = room - sum(len(one) + 1 for one in kept)
    lines = list(_fitting(list(reversed(spans)), left))
    return "\n".join([*reversed(lines), *reversed(kept)]) or "-"


def _entry(entry: FlowEntry) -> str:
    lines = [f"Turn {entry.turn_id} ({entry.at.hour:02}:{entry.at.minute:02}): {entry.said}"]
    lines += [f"→ {line}" for line in (entry.routed, entry.answered) if line]
    return "\n".join(lines)


def _brief_entry(entry: FlowEntry) -> str:
    """Return a turn as agents are shown it: without the time, and who was asked."""
    said = f"Turn {entry.turn_id}: {entry.said.removeprefix('User says: ')}"
    return f"{said} → {entry.answered}" if entry.answered else said


def _fitting(texts: Sequence[str], room: int) -> Iterator[str]:
    for text in texts:
        room -= len(text) + 1
        if room < 0:
            return
        yield text
