"""Keeps the memory part of a document within its bounds, whatever a model or a turn brings."""

from collections.abc import Iterable

from data_models.memory_blocks import MEMORY_LIMIT_BYTES, RING, KeyPoint, MemoryBlocks, TopicSpan
from services.memory_blocks.wording import one_line

LINE_CHARS = 120
NOTE_CHARS = 1_000
POINT_CHARS = 160
QUOTE_CHARS = 240
TOPIC_CHARS = 60
NAME_CHARS = 64
ID_CHARS = 128
FLOW_ENTRIES = 24
POINTS = 30
RETIRED_POINTS = 10
# What a statement says decides how long it is held; notes and measurements go first.
_WEIGHTS = {"medication": 1, "code status": 2, "allergy": 2}
NEXT_TOPICS = 5
NO_TOPIC = "other"


def bound(memory: MemoryBlocks) -> None:
    """Shorten what is too long, drop what is too old; the newest and what people wrote stays."""
    _shorten(memory)
    del memory.topic_transitions[:-RING], memory.routing_history[:-RING]
    del memory.counts.generation_seconds[:-RING], memory.next_topics[NEXT_TOPICS:]
    active = [one for one in memory.key_points if one.status == "active"]
    retired = [one for one in memory.key_points if one.status != "active"]
    ours = by_weight(one for one in active if one.source != "person")
    gone = [*ours[: max(0, len(active) - POINTS)], *retired[:-RETIRED_POINTS]]
    ids = {one.point_id for one in gone}
    memory.key_points = [one for one in memory.key_points if one.point_id not in ids]
    while len(memory.flow) > FLOW_ENTRIES:
        _merge_oldest(memory)
    while memory.stored_bytes() > MEMORY_LIMIT_BYTES and _give_way(memory):
        pass


def condense_before(memory: MemoryBlocks, first_here: int) -> None:
    """Have turns before `first_here`, which left the window, told in one line each."""
    for entry in memory.flow:
        if entry.turn_id < first_here:
            entry.routed = entry.answered = ""


def _shorten(memory: MemoryBlocks) -> None:
    """Cut what is longer than it may be: nearly all of it is short."""
    memory.user_id = _cut(memory.user_id, ID_CHARS)
    memory.active_topic = _cut(memory.active_topic, TOPIC_CHARS)
    memory.conversation_phase = _cut(memory.conversation_phase, TOPIC_CHARS)
    memory.routing_history = [_cut(one, NAME_CHARS) for one in memory.routing_history]
    memory.next_topics = [_cut(one, LINE_CHARS) for one in memory.next_topics]
    # Nearly none is: what is set is checked by the model of the row.
    for transition in memory.topic_transitions:
        if len(transition.topic) > TOPIC_CHARS or len(transition.trigger) > TOPIC_CHARS:
            transition.topic = _cut(transition.topic, TOPIC_CHARS)
            transition.trigger = _cut(transition.trigger, TOPIC_CHARS)
    for point in memory.key_points:
        if len(point.text) > POINT_CHARS:
            point.text = _cut(point.text, POINT_CHARS)
    for entry in memory.flow:
        longest = max(len(entry.said), len(entry.routed), len(entry.answered))
        if longest > LINE_CHARS or len(entry.topic) > TOPIC_CHARS:
            entry.said = _cut(entry.said, LINE_CHARS)
            entry.routed = _cut(entry.routed, LINE_CHARS)
            entry.answered = _cut(entry.answered, LINE_CHARS)
            entry.topic = _cut(entry.topic, TOPIC_CHARS)
    intent = memory.last_intent
    if intent is not None and max(len(intent.intent), len(intent.reasoning)) > NAME_CHARS:
        intent.intent = _cut(intent.intent, NAME_CHARS)
        intent.reasoning = _cut(intent.reasoning, LINE_CHARS)


def _cut(text: str, limit_chars: int) -> str:
    # What is short was made one line when it was written.
    return text if len(text) <= limit_chars else one_line(text, limit_chars)


def by_weight(points: Iterable[KeyPoint]) -> list[KeyPoint]:
    """Return `points` as they may be dropped: what harms to forget comes last, the old first."""
    return sorted(points, key=lambda one: (one.status == "active", _WEIGHTS.get(one.kind, 0)))


def _give_way(memory: MemoryBlocks) -> bool:
    """Make the part smaller by what matters least; False if nothing is left to drop."""
    first = next((one for one in memory.flow if one.routed or one.answered), None)
    ours = next(iter(by_weight(p for p in memory.key_points if p.source != "person")), None)
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
    span = TopicSpan(first=oldest.turn_id, last=oldest.turn_id, topic=oldest.topic or NO_TOPIC)
    if memory.earlier and memory.earlier[-1].topic == span.topic:
        memory.earlier[-1].last = span.last
        return
    memory.earlier.append(span)
    while len(memory.earlier) > RING:
        one, two = memory.earlier[:2]
        topic = one_line(f"{one.topic}, {two.topic}", TOPIC_CHARS)
        memory.earlier[:2] = [TopicSpan(first=one.first, last=two.last, topic=topic)]
