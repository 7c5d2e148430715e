"""What "undo" takes back of a patient's memory: the newest write of whoever says it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from data_models.chat_context import ChatContext
from data_models.memory_blocks import KeyPoint
from data_models.memory_changes import MemoryChange
from services.memory_edits.operations import take_back, unlearn

UNDO_FOR = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """What one message or one press wrote: statements that it made, or changes to some.

    Attributes:
        at: When; a tool that ran since is newer.
        points: Ids of the statements that were made.
        changes: Ids of the changes, all of one moment.
    """

    at: datetime
    points: tuple[str, ...] = ()
    changes: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """What tells it from any other write of the document."""
        return " ".join([*self.points, *map(str, self.changes)])


def newest_write(document: ChatContext, *, by: str, name: str, now: datetime) -> MemoryWrite | None:
    """Return the newest write of ten minutes that can be taken back; None if there is none.

    Args:
        by: Principal id of whoever asks; changes hold it.
        name: Display name of the same; statements hold it.
    """
    found = [*_changed(document, by=by), *_made(document, name=name)]
    near = [one for one in found if now - one.at <= UNDO_FOR]
    return max(near, key=lambda one: one.at, default=None)


def undo_write(
    document: ChatContext, write: MemoryWrite, *, by: str, now: datetime
) -> tuple[list[str], list[str]]:
    """Take `write` back, and return what is not held any more and what is held again, as shown.

    Raises:
        MemoryItemError: an item has changed since; the document must not be stored.
    """
    if write.points:
        done = unlearn(document, write.points, by=by, now=now)
    else:
        done = take_back(document, write.changes, by=by, now=now)
    gone = [_text(one.before) for one in done if _is_held(one.before)]
    back = [_text(one.after) for one in done if _is_held(one.after)]
    return [one for one in gone if one not in back], [one for one in back if one not in gone]


def texts_of(document: ChatContext, write: MemoryWrite) -> list[str]:
    """Return what `write` wrote, as people are shown it."""
    points = [one.text for one in document.memory.key_points if one.point_id in write.points]
    log = document.memory_changes.changes
    changed = [_text(one.after or one.before) for one in log if one.change_id in write.changes]
    return [*points, *changed]


def _made(document: ChatContext, *, name: str) -> list[MemoryWrite]:
    times = {turn.turn_id: turn.timestamp for turn in document.chat_history}
    made: dict[int, list[KeyPoint]] = {}
    for point in document.memory.key_points:
        is_own = point.source != "person" and bool(point.quote) and point.said_by == name
        if is_own and point.status == "active" and point.turn_id in times:
            made.setdefault(point.turn_id, []).append(point)
    return [
        MemoryWrite(times[turn], points=tuple(one.point_id for one in points))
        for turn, points in made.items()
    ]


def _changed(document: ChatContext, *, by: str) -> list[MemoryWrite]:
    """Return the last moment at which `by` changed something that is not taken back yet."""
    log: Sequence[MemoryChange] = document.memory_changes.changes
    own = [one for one in log if one.by == by and not one.undone]
    if not own:
        return []
    at = own[-1].at
    together = tuple(one.change_id for one in own if one.at == at)
    return [MemoryWrite(at, changes=together)]


def _is_held(state: dict[str, object] | None) -> bool:
    return state is not None and state.get("status", "active") == "active"


def _text(state: dict[str, object] | None) -> str:
    shown = {} if state is None else state
    return str(shown.get("text") or shown.get("value") or shown.get("topic") or "an item")
