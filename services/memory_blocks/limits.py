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
    """Drop what is too old or too much; the newest and what people wrote stays."""
    del memory.topic_transitions[:-RING], memory.counts.generation_seconds[:-RING]
    active = [one for one in memory.key_points if one.status == "active"]
    retired = [one for one in memory.key_points if one.status != "active"]
    ours = by_weight(one for one in active if one.source != "person")
    gone = [*ours[: max(0, len(active) - POINTS)], *retired[:-RETIRED_POINTS]]
    for point in retired:  # a whole note is worth its room while it is held
        point.text = one_line(point.text, POINT_CHARS)
    ids = {one.point_id for one in gone}
    memory.key_points = [one for one in memory.key_points if one.point_id not in ids]
    while len(memory.flow) > FLOW_ENTRIES:
        _merge_oldest(memory)
    while memory.stored_bytes() > MEMORY_LIMIT_BYTES and _give_way(memory):
        pass


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
