"""Keeps the memory part of a document within its bounds and rules (spec pages 4.1, 4.2)."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from data_models.chat_context import ChatContext, Turn, advance, is_open
from data_models.errors import InterruptedTurnError
from data_models.memory_blocks import (
    MEMORY_LIMIT_BYTES,
    RING,
    ContextEnrichment,
    KeyPoint,
    MemoryBlocks,
    TopicSpan,
)
from services.language.words.text_words import sentences_in

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def one_line(text: str, limit_chars: int) -> str:
    """Return `text` in one line without control characters, cut with an ellipsis if too long."""
    line = " ".join(_CONTROL.sub(" ", text[: limit_chars * 4]).split())
    return line if len(line) <= limit_chars else f"{line[: limit_chars - 1].rstrip()}…"


def last_question(text: str) -> str:
    """Return the last sentence of `text` that asks something; "" if none does."""
    tail = text[-2_000:].strip()
    sentences = [one.rpartition("\n")[2].strip(" *_>-") for one in sentences_in(tail)]
    return next((one for one in reversed(sentences) if one.endswith(("?", "\uff1f"))), "")


def first_sentence(text: str) -> str:
    """Return the first sentence of `text` that has words, without markup."""
    lines = (line.strip(" #>-|") for line in text[:2_000].replace("*", "").splitlines())
    line = next((one for one in lines if any(map(str.isalnum, one))), "")
    return sentences_in(line)[0]


def title(topic: str) -> str:
    """Return `headache_severity` as `Headache Severity`."""
    return " ".join(word[:1].upper() + word[1:] for word in topic.replace("_", " ").split())


def iso(at: datetime) -> str:
    """Return an aware UTC time as it is stored: ISO 8601 that ends with `Z`."""
    return at.isoformat().replace("+00:00", "Z")


LINE_CHARS = 120
NOTE_CHARS = 1_000
POINT_CHARS = 160
QUOTE_CHARS = 240
TOPIC_CHARS = 60
NAME_CHARS = 64
ID_CHARS = 128
FLOW_ENTRIES = 24
POINTS = 30
_RETIRED_POINTS = 10
# What a statement says decides how long it is held; notes and measurements go first.
_WEIGHTS = {"medication": 1, "code status": 2, "allergy": 2}
NEXT_TOPICS = 5
_NO_TOPIC = "other"


def bound(memory: MemoryBlocks) -> None:
    """Drop what is too old or too much; the newest and what people wrote stays."""
    del memory.topic_transitions[:-RING], memory.counts.generation_seconds[:-RING]
    active = [one for one in memory.key_points if one.status == "active"]
    retired = [one for one in memory.key_points if one.status != "active"]
    ours = _by_weight(one for one in active if one.source != "person")
    gone = [*ours[: max(0, len(active) - POINTS)], *retired[:-_RETIRED_POINTS]]
    for point in retired:  # a whole note is worth its room while it is held
        point.text = one_line(point.text, POINT_CHARS)
    ids = {one.point_id for one in gone}
    memory.key_points = [one for one in memory.key_points if one.point_id not in ids]
    while len(memory.flow) > FLOW_ENTRIES:
        _merge_oldest(memory)
    while memory.stored_bytes() > MEMORY_LIMIT_BYTES and _give_way(memory):
        pass


def _by_weight(points: Iterable[KeyPoint]) -> list[KeyPoint]:
    """Return `points` as they may be dropped: what harms to forget comes last, the old first."""
    return sorted(points, key=lambda one: (one.status == "active", _WEIGHTS.get(one.kind, 0)))


def _give_way(memory: MemoryBlocks) -> bool:
    """Make the part smaller by what matters least; False if nothing is left to drop."""
    first = next((one for one in memory.flow if one.routed or one.answered), None)
    ours = next(iter(_by_weight(p for p in memory.key_points if p.source != "person")), None)
    if first is not None and first is not memory.flow[-1]:
        first.routed = first.answered = ""
    elif len(memory.flow) > 1:
        _merge_oldest(memory)
    elif ours is not None:
        memory.key_points.remove(ours)
    elif len(memory.earlier) > 1:
        del memory.earlier[0]
    elif memory.key_points:
        del memory.key_points[0]
    else:
        return False
    return True


def _merge_oldest(memory: MemoryBlocks) -> None:
    """Tell the oldest turn of the flow by its topic alone, with those around it."""
    oldest = memory.flow.pop(0)
    span = TopicSpan(first=oldest.turn_id, last=oldest.turn_id, topic=oldest.topic or _NO_TOPIC)
    if memory.earlier and memory.earlier[-1].topic == span.topic:
        memory.earlier[-1].last = span.last
        return
    memory.earlier.append(span)
    while len(memory.earlier) > RING:
        one, two = memory.earlier[:2]
        topic = one_line(f"{one.topic}, {two.topic}", TOPIC_CHARS)
        memory.earlier[:2] = [TopicSpan(first=one.first, last=two.last, topic=topic)]


Rule: TypeAlias = Literal[
    "turn_twice", "turn_order", "turn_gap", "turn_time", "turn_counter", "turn_left_open",
    "too_many_turns", "reference", "ring", "counts", "key_point_twice",
    "unknown_agent",
]  # fmt: skip
_MOST_TURNS = 25


# Checks a document's memory by the rules of spec page 4.2; mends what is certain.


@dataclass(slots=True)
class Findings:
    """What was wrong; neither list holds a word of the conversation.

    Attributes:
        repaired: Rules that were broken and hold again.
        reported: Rules that are broken, because nobody can say what would be right.
    """

    repaired: list[Rule] = field(default_factory=list)
    reported: list[Rule] = field(default_factory=list)


def validate(
    context: ChatContext, *, agents: Collection[str], running: str | None = None
) -> Findings:
    """Check `context` against every rule and mend it in place.

    Sizes, `current_turn` and `session_id` hold by construction: the blocks are made from the
    document, so there is no second value that could differ.

    Args:
        agents: Names in the team, of today and of older deployments; none checks no names.
        running: The run that is under way; every other open turn is one that died.
    """
    findings = Findings()
    _check_order(context, findings)
    _check_turns(context, findings, running)
    _check_memory(context, findings, running)
    if agents:
        said = {one.agent for turn in context.chat_history for one in turn.agent_responses}
        _report(findings, "unknown_agent", not said <= set(agents))
    return findings


def _check_order(context: ChatContext, findings: Findings) -> None:
    turns = context.chat_history
    by_id = {turn.turn_id: turn for turn in turns}
    others = [turn for turn in turns if by_id[turn.turn_id].run_id != turn.run_id]
    if len(by_id) < len(turns) and not others:
        # The same turn twice: the later copy knows more of it.
        turns = context.chat_history = list(by_id.values())
        findings.repaired.append("turn_twice")
    _report(findings, "turn_twice", len(by_id) < len(turns))
    ids = [turn.turn_id for turn in turns]
    if ids != sorted(ids):
        turns = context.chat_history = sorted(turns, key=lambda turn: turn.turn_id)
        findings.repaired.append("turn_order")
    gaps = [two for one, two in pairwise(turns) if two.turn_id > one.turn_id + 1]
    _report(findings, "turn_gap", bool(gaps))
    times = [turn.timestamp for turn in turns]
    _report(findings, "turn_time", times != sorted(times))
    if turns and context.next_turn_id != turns[-1].turn_id + 1:
        context.next_turn_id = turns[-1].turn_id + 1
        findings.repaired.append("turn_counter")


def _check_turns(context: ChatContext, findings: Findings, running: str | None) -> None:
    left_open = [turn for turn in context.chat_history if turn.run_id != running and is_open(turn)]
    for turn in left_open:
        advance(turn, "FAILED", error_code=InterruptedTurnError.code)
    _repair(findings, "turn_left_open", bool(left_open))
    enriched = [(turn, one) for turn in context.chat_history if (one := turn.context_enrichment)]
    lost = [_mended(one, turn) for turn, one in enriched if one.relevant_history]
    _repair(findings, "reference", any(lost))
    stored = [turn for turn in context.chat_history if turn.run_id != running]
    # More than a block holds is no damage: room is made before the next write.
    _repair(findings, "too_many_turns", len(stored) > _MOST_TURNS)


def _mended(enriched: ContextEnrichment, turn: Turn) -> bool:
    """Drop references to turns that cannot be: of the future, of itself, before the first."""
    kept = [one for one in enriched.relevant_history if 0 < one < turn.turn_id]
    if kept == enriched.relevant_history:
        return False
    enriched.relevant_history = kept
    return True


def _check_memory(context: ChatContext, findings: Findings, running: str | None) -> None:
    memory = context.memory
    rings: tuple[list[Any], ...] = (
        memory.topic_transitions,
        memory.earlier,
        memory.counts.generation_seconds,
    )
    _repair(findings, "ring", any(len(ring) > RING for ring in rings))
    for ring in rings:
        del ring[:-RING]
    # The turn that is under way is counted when it is concluded.
    ended = [turn for turn in context.chat_history if turn.run_id != running]
    done = len([one for one in ended if one.agent_responses and one.turn_status == "COMPLETED"])
    wrong = memory.started_at is not None and memory.counts.exchanges < done
    wrong = wrong or memory.counts.failed_updates > memory.counts.updates
    if wrong:
        memory.counts.exchanges = max(memory.counts.exchanges, done)
        memory.counts.failed_updates = min(memory.counts.failed_updates, memory.counts.updates)
    _repair(findings, "counts", wrong)
    ids = [one.point_id for one in memory.key_points]
    if len(set(ids)) < len(ids):
        memory.key_points = list({one.point_id: one for one in memory.key_points}.values())
        findings.repaired.append("key_point_twice")


def _repair(findings: Findings, rule: Rule, found: bool) -> None:
    if found:
        findings.repaired.append(rule)


def _report(findings: Findings, rule: Rule, found: bool) -> None:
    if found:
        findings.reported.append(rule)
