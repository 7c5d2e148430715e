"""What a person may do to items of a patient's memory. Pure: works on the draft of a document."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from data_models.chat_context import ChatContext
from data_models.entity_values import VALUE_LIMIT_CHARS, canonical_json, is_blank
from data_models.errors import BadFrameError, MemoryItemError
from data_models.memory_changes import MemoryAction, MemoryChange
from data_models.values import ClosedValue
from services.memory_edits.places import Place, State, place_of_change, places_of

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


def unlearn(
    document: ChatContext, points: Sequence[str], *, by: str, now: datetime
) -> list[MemoryChange]:
    """Take back what a message had `document` hold; what gave way to it is held again.

    Raises:
        MemoryItemError: a point is not there, or not held any more.
    """
    editor = _Editor(document=document, by=by, now=now)
    before = len(document.memory_changes.changes)
    for point in points:
        editor.unlearn(point)
    return document.memory_changes.changes[before:]


def take_back(
    document: ChatContext, changes: Sequence[int], *, by: str, now: datetime
) -> list[MemoryChange]:
    """Undo `changes`, the newest first; after an error the document must not be stored.

    Raises:
        MemoryItemError: a change is not there, or its item has changed since.
    """
    editor = _Editor(document=document, by=by, now=now)
    before = len(document.memory_changes.changes)
    for change in sorted(changes, reverse=True):
        editor.undo(change)
    return document.memory_changes.changes[before:]


class _Editor:
    def __init__(self, *, document: ChatContext, by: str, now: datetime) -> None:
        self._document = document
        self._by = by
        self._now = now

    def correct(self, item: str, value: Any) -> None:
        place, state = self._found(item)
        corrected = place.corrected(state, _fitting(place, value), now=self._now)
        if corrected == state:
            raise MemoryItemError("it has that value already")
        self._store(place, "correct", state, corrected)

    def retire(self, item: str) -> None:
        place, state = self._found(item)
        if place.kind == "topic":
            raise MemoryItemError("a topic can only be corrected")
        if not _is_active(state):
            raise MemoryItemError("it is retired already")
        self._store(place, "retire", state, place.retired(state))

    def restore(self, item: str) -> None:
        changes = reversed(self._document.memory_changes.changes)
        found = next(
            (c for c in changes if c.item == item and c.action == "retire" and not c.undone), None
        )
        if found is None:
            raise MemoryItemError("nobody retired it")
        self._take_back(found, "restore")

    def undo(self, change_id: int) -> None:
        changes = self._document.memory_changes.changes
        found = next((c for c in changes if c.change_id == change_id and not c.undone), None)
        if found is None:
            raise MemoryItemError("there is no such change to undo")
        self._take_back(found, "undo")

    def unlearn(self, point: str) -> None:
        place, state = self._found(f"point:{point}")
        if not _is_active(state):
            raise MemoryItemError("it is retired already")
        self._store(place, "retire", state, place.retired(state))
        for older in state.get("supersedes", ()):
            former = self._place(f"point:{older}")
            before = None if former is None else former.read(self._document)
            if former is not None and before is not None and before["status"] == "superseded":
                self._store(former, "restore", before, {**before, "status": "active"})

    def _take_back(self, change: MemoryChange, action: MemoryAction) -> None:
        place = self._place(change.item) or place_of_change(
            change.item, change.before or change.after or {}
        )
        if place is None:
            raise MemoryItemError("it left the memory meanwhile")
        present = place.read(self._document)
        if _content(present) != _content(change.after):
            raise MemoryItemError("it was changed again since")
        change.undone = True
        self._store(place, action, present, change.before)

    def _store(
        self, place: Place, action: MemoryAction, before: State | None, after: State | None
    ) -> None:
        place.write(self._document, after, now=self._now)
        log = self._document.memory_changes
        log.changes.append(
            MemoryChange(
                change_id=log.next_change,
                at=self._now,
                by=self._by,
                action=action,
                item=place.item_id,
                label=place.label[:80],
                before=None if before is None else dict(before),
                after=place.read(self._document),
            )
        )
        log.next_change += 1

    def _found(self, item: str) -> tuple[Place, State]:
        place = self._place(item)
        state = None if place is None else place.read(self._document)
        if place is None or state is None:
            raise MemoryItemError("there is no such item")
        return place, state

    def _place(self, item: str) -> Place | None:
        return next((one for one in places_of(self._document) if one.item_id == item), None)


# Changes while nobody corrects anything: how often something was used, and when.
_VOLATILE = frozenset({"last_accessed", "access_count", "last_turn", "user_references", "seq"})


def _content(state: State | None) -> State | None:
    if state is None:
        return None
    return {key: value for key, value in state.items() if key not in _VOLATILE}


def _is_active(state: State) -> bool:
    return bool(state.get("status", "active") == "active")


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
