"""Where each kind of item lives in a document: how its state is read, and put back. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from data_models.chat_context import ChatContext
from data_models.entities.derived_entities import DerivedEntity
from data_models.entities.entities import ConversationEntity
from data_models.entities.entity_queue import in_order
from data_models.errors import MemoryItemError
from data_models.memory_blocks import KeyPoint
from data_models.tool_memory import EntityContext
from services.language.requests.clock import is_relative_value
from services.tool_memory.extractors import other_of

ItemKind: TypeAlias = Literal["topic", "point", "wish", "finding", "thing"]
Name: TypeAlias = tuple[str, ...]
State: TypeAlias = Mapping[str, Any]
Stored: TypeAlias = KeyPoint | ConversationEntity | DerivedEntity | EntityContext
PERSON = "person"
_LABELS: Mapping[ItemKind, str] = {"topic": "Topic", "point": "Key point"}
_OF_NAME: Mapping[str, ItemKind] = {
    "topic": "topic",
    "point": "point",
    "wish": "wish",
    "finding": "finding",
}
"""Kinds whose id says all of where they live, so that they can be put back."""


@dataclass(frozen=True, slots=True)
class Place:
    """One item of a document, whether it is there or not.

    `topic` is what the conversation is about now, `point` a key point of the summary, `wish`
    something the user wants, `finding` what a tool found for one agent or the agent concluded, and
    `thing` what a tool returned that a user may speak of.

    Attributes:
        name: What tells it from the others of its kind.
        called: What people call a thing.
    """

    kind: ItemKind
    name: Name = ()
    called: str = ""

    @property
    def item_id(self) -> str:
        """Names the item in the API and in the list of changes."""
        return ":".join((self.kind, *self.name))

    @property
    def label(self) -> str:
        """What it is called, for people: `doctor_preference` is "Doctor preference"."""
        return self.called or _LABELS.get(self.kind) or _spoken(self.name[-1])

    def read(self, document: ChatContext) -> dict[str, Any] | None:
        """Return its state as it is stored; None if it is not there."""
        if self.kind == "topic":
            topic = document.memory.active_topic
            return {"topic": topic} if topic else None
        rows = items_of(document, self.kind)
        found = next((one for name, one in rows if name == self.name), None)
        return None if found is None else found.model_dump(mode="json")

    def write(self, document: ChatContext, state: State | None, *, now: datetime) -> None:
        """Put `state` there, or take the item out.

        Raises:
            MemoryItemError: there is no room, or the item cannot be taken out.
        """
        match self.kind:
            case "topic":
                document.memory.active_topic = "" if state is None else str(state["topic"])
            case "point":
                self._write_point(document, state)
            case "wish":
                self._write_wish(document, state, now)
            case "finding":
                self._write_finding(document, state, now)
            case "thing":
                self._write_thing(document, state)

    def corrected(self, state: State, value: Any, *, now: datetime) -> dict[str, Any]:
        """Return `state` with a person's value."""
        new: dict[str, Any] = {"value": value, "updated_at": now.isoformat()}
        match self.kind:
            case "topic":
                new = {"topic": str(value)}
            case "point":
                was = str(state.get("text", "")) if state.get("status") == "active" else ""
                new = {"text": str(value), "source": PERSON, "status": "active", "was": was}
            case "wish":
                reference = now.isoformat() if is_relative_value(value) else None
                new |= {"provenance": "user_stated", "reference_time": reference}
            case "finding":
                new |= {"source_tool": PERSON, "source_params": {}}
                new |= {"valid_for": None, "is_outdated": False}
            case "thing":
                new = {"display_name": str(value)}
        return {**state, **new}

    def retired(self, state: State) -> dict[str, Any] | None:
        """Return the state in which nobody is shown the item any more; None where it goes."""
        ends = {"point": "retired", "thing": "deleted"}
        return {**state, "status": ends[self.kind]} if self.kind in ends else None

    def _write_point(self, document: ChatContext, state: State | None) -> None:
        points = document.memory.key_points
        ids = [one.point_id for one in points]
        at = ids.index(self.name[0]) if self.name[0] in ids else len(ids)
        points[at : at + 1] = [] if state is None else [KeyPoint.model_validate(state)]

    def _write_wish(self, document: ChatContext, state: State | None, now: datetime) -> None:
        manager, (key,) = document.entities.conversation, self.name
        queue = {each: one for each, one in manager.entities.items() if each != key}
        if state is not None:
            if len(queue) >= manager.max_size:
                raise MemoryItemError("no room for another entity")
            queue[key] = ConversationEntity.model_validate(state)
        manager.entities = in_order(queue)
        manager.touch(now)
        document.entities.derived.expire_dependents([key], now=now)

    def _write_finding(self, document: ChatContext, state: State | None, now: datetime) -> None:
        manager, (agent, key) = document.entities.derived, self.name
        held = manager.agent_entities.get(agent, {})
        queue = {each: one for each, one in held.items() if each != key}
        if state is not None:
            if len(queue) >= manager.max_size_per_agent:
                raise MemoryItemError("no room for another finding of this agent")
            queue[key] = DerivedEntity.model_validate(state)
        rest = {name: rows for name, rows in manager.agent_entities.items() if name != agent}
        manager.agent_entities = {**rest, agent: in_order(queue)} if queue else rest
        manager.touch(now)

    def _write_thing(self, document: ChatContext, state: State | None) -> None:
        memory, held = document.tool_memory, [name for name, _ in items_of(document, "thing")]
        if self.name not in held or state is None:
            raise MemoryItemError("it left the tool memory meanwhile")
        memory.entities[held.index(self.name)] = EntityContext.model_validate(state)
        if state["status"] == "active":
            return
        entity_id = self.name[-1]
        memory.last_list = [one for one in memory.last_list if one != entity_id]
        if memory.focus == entity_id:
            memory.focus = None


def items_of(document: ChatContext, kind: ItemKind) -> Sequence[tuple[Name, Stored]]:
    """Return the items of a kind as they are stored, each with what tells it apart."""
    match kind:
        case "point":
            return [((one.point_id,), one) for one in document.memory.key_points]
        case "wish":
            return [((key,), one) for key, one in document.entities.conversation.entities.items()]
        case "finding":
            queues = document.entities.derived.agent_entities.items()
            return [((agent, key), one) for agent, queue in queues for key, one in queue.items()]
        case "thing":
            things = document.tool_memory.entities
            return [((one.entity_type, one.source, one.entity_id), one) for one in things]
        case "topic":
            return ()


def places_of(document: ChatContext, *kinds: ItemKind) -> Iterator[tuple[Place, Stored]]:
    """Yield where each item of these kinds lives; what is private is called by its kind alone."""
    for kind in kinds:
        for name, one in items_of(document, kind):
            called = one.display_name if isinstance(one, EntityContext) else ""
            if isinstance(one, EntityContext) and one.is_private:
                called = other_of(one.entity_type).capitalize()
            yield Place(kind, name, called), one


def every_place(document: ChatContext) -> Iterator[Place]:
    """Yield where each item of `document` lives, the topic first."""
    yield Place("topic")
    yield from (place for place, _ in places_of(document, "point", "wish", "finding", "thing"))


def place_of_change(item_id: str) -> Place | None:
    """Return where an item lived that is not there any more; None for what cannot be put back."""
    kind, *name = item_id.split(":")
    return Place(_OF_NAME[kind], tuple(name)) if kind in _OF_NAME else None


def _spoken(key: str) -> str:
    words = key.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
