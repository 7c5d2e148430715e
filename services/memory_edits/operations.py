"""What a person may do to items of a patient's memory. Pure: works on the draft of a document."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from data_models.chat_context import ChatContext
from data_models.entities.entity_values import VALUE_LIMIT_CHARS, canonical_json, is_blank
from data_models.errors import BadFrameError, MemoryItemError
from data_models.memory_blocks import KeyPoint, MemoryAction, MemoryChange
from data_models.values import ClosedValue
from services.memory_edits.places import Place, State, every_place, place_of_change

OPERATIONS_LIMIT = 20
_TEXT_LIMIT_CHARS = 300
_Item: TypeAlias = Annotated[str, Field(min_length=1, max_length=600)]


class Correct(ClosedValue):
    """Give an item another value."""

    op: Literal["correct"]
    item: _Item
    value: Any


class Retire(ClosedValue):
    """Show an item to nobody any more."""

    op: Literal["retire"]
    item: _Item


class Restore(ClosedValue):
    """Bring back what was retired."""

    op: Literal["restore"]
    item: _Item


class Undo(ClosedValue):
    """Take one change back; the item must not have changed since."""

    op: Literal["undo"]
    change_id: int = Field(ge=1, le=999_999_999)


Operation: TypeAlias = Annotated[Correct | Retire | Restore | Undo, Field(discriminator="op")]


class MemoryPatch(ClosedValue):
    """Some operations, all or none of them.

    Attributes:
        revision: Of the view that the person saw; `If-Match` says the same.
    """

    operations: Annotated[tuple[Operation, ...], Field(min_length=1, max_length=OPERATIONS_LIMIT)]
    revision: Annotated[str, Field(min_length=1, max_length=64)] | None = None


def apply(
    document: ChatContext, operations: Sequence[Operation], *, by: str, now: datetime
) -> None:
    """Change `document` and note each change in it; after an error it must not be stored.

    Raises:
        MemoryItemError: an item is not there, or is not as it was when it was changed.
        BadFrameError: a value cannot be that item's.
    """
    editor = _Editor(document=document, by=by, now=now)
    for operation in operations:
        match operation:
            case Correct(item=item, value=value):
                editor.correct(item, value)
            case Retire(item=item):
                editor.retire(item)
            case Restore(item=item):
                editor.restore(item)
            case Undo(change_id=change_id):
                editor.undo(change_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Editor:
    document: ChatContext
    by: str
    now: datetime

    def correct(self, item: str, value: Any) -> None:
        place, state = self._found(item)
        corrected = place.corrected(state, _fitting(place, value), now=self.now)
        if corrected == state:
            raise MemoryItemError("it has that value already")
        self._store(place, "correct", state, corrected)

    def retire(self, item: str) -> State:
        """Retire an item that is active; return the state in which it was."""
        place, state = self._found(item)
        if place.kind == "topic":
            raise MemoryItemError("a topic can only be corrected")
        if not _is_active(state):
            raise MemoryItemError("it is retired already")
        self._store(place, "retire", state, place.retired(state))
        return state

    def restore(self, item: str) -> None:
        changes = reversed(self.document.memory_changes.changes)
        own = (one for one in changes if one.item == item and one.action == "retire")
        self._take_back(own, "restore", "nobody retired it")

    def undo(self, change_id: int) -> None:
        changes = self.document.memory_changes.changes
        own = (one for one in changes if one.change_id == change_id)
        self._take_back(own, "undo", "there is no such change to undo")

    def unlearn(self, point: str) -> None:
        """Take back a statement that a message made; what gave way to it is held again."""
        for older in self.retire(f"point:{point}").get("supersedes", ()):
            former = self._place(f"point:{older}")
            before = None if former is None else former.read(self.document)
            if former is not None and before is not None and before["status"] == "superseded":
                self._store(former, "restore", before, {**before, "status": "active"})

    def _take_back(
        self, changes: Iterable[MemoryChange], action: MemoryAction, missing: str
    ) -> None:
        if (change := next((one for one in changes if not one.undone), None)) is None:
            raise MemoryItemError(missing)
        place = self._place(change.item) or place_of_change(change.item)
        if place is None:
            raise MemoryItemError("it left the memory meanwhile")
        present = place.read(self.document)
        if _content(present) != _content(change.after):
            raise MemoryItemError("it was changed again since")
        change.undone = True
        self._store(place, action, present, change.before)

    def _store(
        self, place: Place, action: MemoryAction, before: State | None, after: State | None
    ) -> None:
        place.write(self.document, after, now=self.now)
        log = self.document.memory_changes
        log.changes.append(
            MemoryChange(
                change_id=log.next_change,
                at=self.now,
                by=self.by,
                action=action,
                item=place.item_id,
                label=place.label[:80],
                before=None if before is None else dict(before),
                after=place.read(self.document),
            )
        )
        log.next_change += 1

    def _found(self, item: str) -> tuple[Place, State]:
        place = self._place(item)
        state = None if place is None else place.read(self.document)
        if place is None or state is None:
            raise MemoryItemError("there is no such item")
        return place, state

    def _place(self, item: str) -> Place | None:
        return next((one for one in every_place(self.document) if one.item_id == item), None)


# Changes while nobody corrects anything: how often something was used, and when.
_VOLATILE = frozenset({"last_accessed", "access_count", "last_turn", "user_references", "seq"})


def _content(state: State | None) -> State | None:
    if state is None:
        return None
    return {key: value for key, value in state.items() if key not in _VOLATILE}


def _is_active(state: State | None) -> bool:
    return state is not None and bool(state.get("status", "active") == "active")


def _fitting(place: Place, value: Any) -> Any:
    """Return `value` if it can be the item's."""
    text = canonical_json(value)
    if text is None or is_blank(value) or len(text) > VALUE_LIMIT_CHARS:
        raise BadFrameError("the value is empty, too long, or no JSON")
    if place.kind in ("wish", "finding"):
        return value
    if not isinstance(value, str) or len(value) > _TEXT_LIMIT_CHARS:
        raise BadFrameError("the value must be a text of at most 300 characters")
    return " ".join(value.split())


# What "undo" takes back of a patient's memory: the newest write of whoever says it. Pure.

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
    editor = _Editor(document=document, by=by, now=now)
    before = len(document.memory_changes.changes)
    for point in write.points:
        editor.unlearn(point)
    for change in sorted(write.changes, reverse=True):
        editor.undo(change)
    done = document.memory_changes.changes[before:]
    gone = [_text(one.before) for one in done if _is_active(one.before)]
    back = [_text(one.after) for one in done if _is_active(one.after)]
    return [one for one in gone if one not in back], [one for one in back if one not in gone]


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


def _text(state: State | None) -> str:
    shown = {} if state is None else state
    return str(shown.get("text") or shown.get("value") or shown.get("topic") or "an item")
