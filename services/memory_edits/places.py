"""Where each kind of item lives in a document: how its state is read, and put back. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from data_models.chat_context import ChatContext
from data_models.conversation_entities import ConversationEntity
from data_models.derived_entity import DerivedEntity
from data_models.entity_queue import in_order
from data_models.errors import MemoryItemError
from data_models.memory_blocks import KeyPoint
from data_models.tool_memory import EntityContext
from services.language.clock import is_relative_value
from services.tool_memory.grounding import other_of

ItemKind: TypeAlias = Literal["topic", "point", "wish", "finding", "thing"]
State: TypeAlias = Mapping[str, Any]
PERSON = "person"


@dataclass(frozen=True, slots=True)
class TopicPlace:
    """What the conversation is about now."""

    item_id: str = "topic"
    kind: ItemKind = "topic"
    label: str = "Topic"

    def read(self, document: ChatContext) -> dict[str, Any] | None:
        """Return its state as it is stored; None if it is not there."""
        topic = document.memory.active_topic
        return {"topic": topic} if topic else None

    def write(self, document: ChatContext, state: State | None, *, now: datetime) -> None:
        """Put `state` there, or take the item out.

        Raises:
            MemoryItemError: there is no room, or the item cannot be taken out.
        """
        document.memory.active_topic = "" if state is None else str(state["topic"])

    def corrected(self, state: State, value: Any, *, now: datetime) -> dict[str, Any]:
        """Return `state` with a person's value."""
        return {"topic": str(value)}

    def retired(self, state: State) -> None:
        """Return the state in which nobody is shown the item any more: none."""
        return


def _as_extracted(point: KeyPoint | None) -> bool:
    """Whether `point` stands as model or rules wrote it."""
    return point is not None and point.source != PERSON and point.status == "active"


@dataclass(frozen=True, slots=True)
class PointPlace:
    """A key point of the summary."""

    point_id: str
    label: str = "Key point"
    kind: ItemKind = "point"

    @property
    def item_id(self) -> str:
        """Names the item in the API and in the list of changes."""
        return f"point:{self.point_id}"

    def read(self, document: ChatContext) -> dict[str, Any] | None:
        found = next((o for o in document.memory.key_points if o.point_id == self.point_id), None)
        return None if found is None else found.model_dump(mode="json")

    def write(self, document: ChatContext, state: State | None, *, now: datetime) -> None:
        points, counts = document.memory.key_points, document.memory.counts
        held = {one.point_id: one for one in points}.get(self.point_id)
        point = None if state is None else KeyPoint.model_validate(state)
        rest = [one for one in points if one.point_id != self.point_id]
        if point is not None:
            rest.insert(len(rest) if held is None else points.index(held), point)
        document.memory.key_points = rest
        corrected = _as_extracted(held) - _as_extracted(point)
        counts.items_corrected = max(0, counts.items_corrected + corrected)

    def corrected(self, state: State, value: Any, *, now: datetime) -> dict[str, Any]:
        was = str(state.get("text", "")) if state.get("status") == "active" else ""
        return {**state, "text": str(value), "source": PERSON, "status": "active", "was": was}

    def retired(self, state: State) -> dict[str, Any]:
        return {**state, "status": "retired"}


@dataclass(frozen=True, slots=True)
class WishPlace:
    """Something the user wants, shared by all agents."""

    key: str
    kind: ItemKind = "wish"

    @property
    def item_id(self) -> str:
        return f"wish:{self.key}"

    @property
    def label(self) -> str:
        return spoken(self.key)

    def read(self, document: ChatContext) -> dict[str, Any] | None:
        found = document.entities.conversation.entities.get(self.key)
        return None if found is None else found.model_dump(mode="json")

    def write(self, document: ChatContext, state: State | None, *, now: datetime) -> None:
        manager = document.entities.conversation
        queue = {key: one for key, one in manager.entities.items() if key != self.key}
        if state is not None:
            if len(queue) >= manager.max_size:
                raise MemoryItemError("no room for another entity")
            queue[self.key] = ConversationEntity.model_validate(state)
        manager.entities = in_order(queue)
        manager.touch(now)
        document.entities.derived.expire_dependents([self.key], now=now)

    def corrected(self, state: State, value: Any, *, now: datetime) -> dict[str, Any]:
        reference = now.isoformat() if is_relative_value(value) else None
        return {
            **state,
            "value": value,
            "provenance": "user_stated",
            "updated_at": now.isoformat(),
            "reference_time": reference,
        }

    def retired(self, state: State) -> None:
        return


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """Something a tool found for one agent, or that the agent concluded."""

    agent: str
    key: str
    kind: ItemKind = "finding"

    @property
    def item_id(self) -> str:
        return f"finding:{self.agent}:{self.key}"

    @property
    def label(self) -> str:
        return spoken(self.key)

    def read(self, document: ChatContext) -> dict[str, Any] | None:
        found = document.entities.derived.agent_entities.get(self.agent, {}).get(self.key)
        return None if found is None else found.model_dump(mode="json")

    def write(self, document: ChatContext, state: State | None, *, now: datetime) -> None:
        manager = document.entities.derived
        held = manager.agent_entities.get(self.agent, {})
        queue = {key: one for key, one in held.items() if key != self.key}
        if state is not None:
            if len(queue) >= manager.max_size_per_agent:
                raise MemoryItemError("no room for another finding of this agent")
            queue[self.key] = DerivedEntity.model_validate(state)
        rest = {name: rows for name, rows in manager.agent_entities.items() if name != self.agent}
        manager.agent_entities = {**rest, self.agent: in_order(queue)} if queue else rest
        manager.touch(now)

    def corrected(self, state: State, value: Any, *, now: datetime) -> dict[str, Any]:
        return {
            **state,
            "value": value,
            "source_tool": PERSON,
            "source_params": {},
            "valid_for": None,
            "is_outdated": False,
            "updated_at": now.isoformat(),
        }

    def retired(self, state: State) -> None:
        return


@dataclass(frozen=True, slots=True)
class ThingPlace:
    """Something a tool returned, that a user may speak of."""

    entity_type: str
    source: str
    entity_id: str
    label: str
    kind: ItemKind = "thing"

    @property
    def item_id(self) -> str:
        return f"thing:{self.entity_type}:{self.source}:{self.entity_id}"

    def read(self, document: ChatContext) -> dict[str, Any] | None:
        found = next((one for one in document.tool_memory.entities if self._is(one)), None)
        return None if found is None else found.model_dump(mode="json")

    def write(self, document: ChatContext, state: State | None, *, now: datetime) -> None:
        memory = document.tool_memory
        found = next((n for n, one in enumerate(memory.entities) if self._is(one)), None)
        if found is None or state is None:
            raise MemoryItemError("it left the tool memory meanwhile")
        memory.entities[found] = EntityContext.model_validate(state)
        if state["status"] == "active":
            return
        memory.last_list = [one for one in memory.last_list if one != self.entity_id]
        if memory.focus == self.entity_id:
            memory.focus = None

    def corrected(self, state: State, value: Any, *, now: datetime) -> dict[str, Any]:
        return {**state, "display_name": str(value)}

    def retired(self, state: State) -> dict[str, Any]:
        return {**state, "status": "deleted"}

    def _is(self, one: EntityContext) -> bool:
        mine = (self.entity_type, self.source, self.entity_id)
        return (one.entity_type, one.source, one.entity_id) == mine


Place: TypeAlias = TopicPlace | PointPlace | WishPlace | FindingPlace | ThingPlace
"""One item of a document, whether it is there or not."""


def place_of_thing(one: EntityContext) -> ThingPlace:
    """Return where an entity lives; what is private is called by its kind alone."""
    label = other_of(one.entity_type).capitalize() if one.is_private else one.display_name
    return ThingPlace(one.entity_type, one.source, one.entity_id, label)


def places_of(document: ChatContext) -> Iterator[Place]:
    """Yield where each item of `document` lives, and each that a person took out."""
    yield TopicPlace()
    yield from (PointPlace(one.point_id) for one in document.memory.key_points)
    yield from (WishPlace(key) for key in document.entities.conversation.entities)
    for agent, queue in document.entities.derived.agent_entities.items():
        yield from (FindingPlace(agent, key) for key in queue)
    yield from map(place_of_thing, document.tool_memory.entities)


def place_of_change(item_id: str, state: State) -> Place | None:
    """Return where an item lived that is not there any more, by a state that it had."""
    kind = item_id.partition(":")[0]
    if kind == "wish":
        return WishPlace(str(state["key"]))
    if kind == "finding":
        return FindingPlace(str(state["agent_name"]), str(state["key"]))
    if kind == "point":
        return PointPlace(str(state["point_id"]))
    return TopicPlace() if kind == "topic" else None


def spoken(key: str) -> str:
    """Return a key as people read it: `doctor_preference` is "Doctor preference"."""
    words = key.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
