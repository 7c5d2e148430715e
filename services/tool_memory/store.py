"""The tool memory of one patient while a turn works with it (spec page 3.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from data_models.tool_memory import EntityContext, EntityType, ToolExecutionContext, ToolMemory
from services.tool_memory.extractors import CLINIC_PREFIX, KEPT_FIELDS, Found, is_cancelled
from services.tool_memory.resolution import EntityIndex, Resolution, Scene
from services.tool_memory.resolver import ContextResolver

# What is kept of an entity's row: how people know it and when it is, in bounded size. Pure.

DATA_LIMIT_CHARS = 900
_MARKS = 4  # quotes, colon and comma around a field
_RANKS = {name: rank for rank, name in enumerate(KEPT_FIELDS)}
_TEXT_LIMIT_CHARS = 160
_ROWS_LIMIT = 12


def kept_data(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `row` by which it is found again, the most telling first."""
    kept: dict[str, Any] = {}
    room = DATA_LIMIT_CHARS
    for name in sorted(_RANKS.keys() & row.keys(), key=_RANKS.__getitem__):
        value = row[name]
        if value is None or value in ("", [], {}):
            continue
        value = _shortened(value, depth=3)
        size = len(name) + len(repr(value)) + _MARKS  # about as much as JSON
        if size <= room:
            kept[name] = value
            room -= size
    return kept


def _shortened(value: Any, *, depth: int) -> Any:
    if isinstance(value, str):
        return value[:_TEXT_LIMIT_CHARS]
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth == 0:
        return None
    if isinstance(value, Mapping):
        rows = list(value.items())[:_ROWS_LIMIT]
        return {str(name): _shortened(one, depth=depth - 1) for name, one in rows}
    if isinstance(value, list | tuple):
        return [_shortened(one, depth=depth - 1) for one in value[:_ROWS_LIMIT]]
    return str(value)[:_TEXT_LIMIT_CHARS]


REFERENCES_KEPT = 10
_REFERENCE_LIMIT_CHARS = 60


@dataclass(frozen=True, slots=True)
class ToolMemoryLimits:
    """How much is remembered, and for how long."""

    entities: int = 50
    executions: int = 100
    idle: timedelta = timedelta(minutes=60)


_Key = tuple[EntityType, str, str]


class ToolEntityStore:
    """Entities and runs, found by id, type, tool and time.

    What other principals' personal tools returned is kept and not seen.
    Changes `memory` in place; it is a part of the turn's own draft. Ids are unique within their
    type and source; an id alone finds the one mentioned last.
    """

    def __init__(
        self, *, memory: ToolMemory, limits: ToolMemoryLimits, now: datetime, principal: str = ""
    ) -> None:
        self.memory = memory
        self._limits = limits
        self._now = now
        self._principal = principal
        self._by_key: dict[_Key, EntityContext] = {}
        self._by_id: dict[str, EntityContext] = {}
        self._indexes: dict[bool, EntityIndex] = {}
        for entity in filter(self._may_see, memory.entities):
            self._index(entity)

    def get(self, entity_id: str) -> EntityContext | None:
        """Return an entity by its id; deleted ones too, until they are forgotten."""
        return self._by_id.get(entity_id)

    def store_entity(
        self,
        found: Found,
        *,
        execution_id: str,
        turn_id: int,
        is_private: bool = False,
        is_personal: bool = False,
    ) -> EntityContext:
        """Add an entity or merge it into the one of the same type, source and id."""
        self._indexes.clear()
        key = (found.entity_type, found.source, found.entity_id)
        known = self._by_key.get(key)
        entity = known if known is not None else self._added(found)
        # A whole record replaces, a short entry erases nothing.
        entity.data = ({} if found.is_whole else entity.data) | kept_data(found.data)
        entity.display_name = found.display_name
        entity.last_accessed, entity.last_turn = self._now, turn_id
        entity.source_execution_id = execution_id
        entity.status = "deleted" if is_cancelled(found) else "active"
        entity.is_private = is_private
        entity.is_personal = is_personal and entity.principal != ""
        self._by_id[entity.entity_id] = entity
        return entity

    def _added(self, found: Found) -> EntityContext:
        entity = EntityContext(
            entity_id=found.entity_id,
            entity_type=found.entity_type,
            display_name=found.display_name,
            source=found.source,
            principal="" if found.entity_id.startswith(CLINIC_PREFIX) else self._principal,
            created_at=self._now,
            last_accessed=self._now,
        )
        self.memory.entities.append(entity)
        self._index(entity)
        return entity

    def _may_see(self, one: EntityContext | ToolExecutionContext) -> bool:
        """Whether it is the patient's, or of whoever asks: a colleague's mailbox is neither."""
        return one.principal in ("", self._principal)

    def add_execution(self, run: ToolExecutionContext) -> None:
        """Add a run; the oldest beyond the limit are forgotten."""
        run.principal = self._principal
        self.memory.executions.append(run)
        over = len(self.memory.executions) - self._limits.executions
        del self.memory.executions[: max(over, 0)]

    def get_recent_entities(
        self, entity_type: EntityType | None = None, limit: int = 10
    ) -> list[EntityContext]:
        """Return live entities, the one mentioned or used last first."""
        live = [
            one
            for one in self._by_key.values()
            if one.status == "active" and entity_type in (None, one.entity_type)
        ]
        live.sort(key=lambda one: (one.last_turn, one.last_accessed), reverse=True)
        return live[:limit]

    def get_recent_tool_executions(
        self, limit: int = 10, *, tool_name: str | None = None
    ) -> list[ToolExecutionContext]:
        """Return runs, newest first."""
        runs = filter(self._may_see, reversed(self.memory.executions))
        return [one for one in runs if tool_name in (None, one.tool_name)][:limit]

    def get_context_summary(self) -> Mapping[str, int]:
        """Return how much is remembered, for the log."""
        return {
            "total_entities": len(self._by_key),
            "total_tool_executions": len(self.memory.executions),
        }

    def resolve(
        self,
        user_message: str,
        entity_type: EntityType | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        local_now: datetime,
        at_clinic: bool = False,
        asks_first: bool = False,
    ) -> Resolution:
        """Return what `user_message` means (spec page 3.3); changes nothing.

        Args:
            at_clinic: Whether the patient's appointments are meant; they are kept apart from the
                user's own calendar.
            asks_first: Whether the user is asked before anything is done with it.
        """
        if at_clinic not in self._indexes:
            kept = [one for one in self._by_key.values() if _is_of(at_clinic, one.entity_id)]
            self._indexes[at_clinic] = EntityIndex.of(kept, local_now)
        scene = self._scene(local_now, at_clinic=at_clinic)
        resolver = ContextResolver(entity_index=self._indexes[at_clinic], scene=scene)
        return resolver.resolve(user_message, entity_type, parameters, asks_first=asks_first)

    def touch(self, entity_id: str, *, words: Sequence[str] = (), turn_id: int) -> None:
        """Note that an entity was really used: it is now what "it" means."""
        entity = self._by_id[entity_id]
        entity.last_accessed, entity.last_turn = self._now, turn_id
        entity.access_count += 1
        references = [*entity.user_references, *(one[:_REFERENCE_LIMIT_CHARS] for one in words)]
        entity.user_references = list(dict.fromkeys(references))[-REFERENCES_KEPT:]
        self.memory.focus = entity_id
        self._indexes.clear()

    def mark_deleted(self, entity_id: str) -> None:
        """Note that an entity is gone at its source, if it is known; "it" is nothing then."""
        if (entity := self._by_id.get(entity_id)) is not None:
            entity.status = "deleted"
            self._indexes.clear()

    def shown(self, entity_ids: Sequence[str]) -> None:
        """Note which list the user saw last; ordinals refer to it.

        What was in focus and is gone, or is none of them, is forgotten then: people speak of the
        list from now on.
        """
        self.memory.last_list = list(entity_ids)
        focus = self._by_id.get(self.memory.focus or "")
        is_other = bool(entity_ids) and self.memory.focus not in entity_ids
        if focus is None or focus.status != "active" or is_other:
            self.memory.focus = None

    def tidy(self, *, kept: Sequence[str] = ()) -> None:
        """Forget what was idle too long, then the oldest beyond the limit.

        Args:
            kept: Ids in the user's open confirmation; they stay whatever their age.
        """
        loose = [one for one in self._by_key.values() if one.entity_id not in kept]
        over = len(self._by_key) - self._limits.entities
        for place, entity in enumerate(sorted(loose, key=lambda one: one.last_accessed)):
            if place < over or self._now - entity.last_accessed > self._limits.idle:
                self._forget(entity)

    def _scene(self, local_now: datetime, *, at_clinic: bool) -> Scene:
        """Return what was looked at last; what a colleague looked at is nothing to point at."""
        memory = self.memory
        hidden = {one.entity_id for one in memory.entities if not self._may_see(one)}
        theirs = hidden - self._by_id.keys()
        is_known = memory.focus not in theirs and _is_of(at_clinic, memory.focus or "")
        return Scene(
            now=local_now,
            focus=memory.focus if is_known else None,
            last_list=tuple(memory.last_list) if theirs.isdisjoint(memory.last_list) else (),
        )

    def _index(self, entity: EntityContext) -> None:
        key = (entity.entity_type, entity.source, entity.entity_id)
        self._by_key[key] = entity
        self._by_id[entity.entity_id] = entity

    def _forget(self, entity: EntityContext) -> None:
        key = (entity.entity_type, entity.source, entity.entity_id)
        del self._by_key[key]
        if self._by_id.get(entity.entity_id) is entity:
            del self._by_id[entity.entity_id]
        self.memory.entities = [one for one in self.memory.entities if one is not entity]
        self._indexes.clear()


def _is_of(at_clinic: bool, entity_id: str) -> bool:
    return entity_id.startswith(CLINIC_PREFIX) == at_clinic


# Keeps the tool memory within its share of the context document: 12 kB. Pure.

LIMIT_BYTES = 12_000
_HEAD_CHARS = 120
_RUNS_KEPT = 10


def fit(memory: ToolMemory, *, kept: tuple[str, ...] = ()) -> None:
    """Shorten and drop the oldest until the memory fits.

    Outputs go first, to their heads, then old runs, then entities; their blobs have them whole.
    """
    if (excess := memory.stored_bytes() - LIMIT_BYTES) <= 0:
        return
    for run in memory.executions:
        is_wordy = bool(run.parameters) and len(str(run.parameters)) > 400
        if is_wordy or len(run.raw_output) > _HEAD_CHARS:
            excess -= run.stored_bytes()
            run.raw_output = run.raw_output[:_HEAD_CHARS]
            run.parameters = {} if is_wordy else run.parameters
            excess += run.stored_bytes()
    loose = [one for one in memory.entities if one.entity_id not in kept]
    loose.sort(key=lambda one: (one.status == "active", one.last_accessed))
    runs, gone = memory.executions, set[int]()
    for one in (*runs[:-_RUNS_KEPT], *loose, *runs[-_RUNS_KEPT:-1]):
        if excess <= 0:
            break
        excess -= one.stored_bytes() + 1
        gone.add(id(one))
    memory.executions = [one for one in runs if id(one) not in gone]
    memory.entities = [one for one in memory.entities if id(one) not in gone]
