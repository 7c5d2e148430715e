"""A patient's memory as people see it: every item with what it comes from. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import orjson
from pydantic import AwareDatetime, BaseModel, Field

from data_models.chat_context import ChatContext
from data_models.entities.derived_entities import LLM_REASONING, DerivedEntity
from data_models.entities.entities import ConversationEntity
from data_models.identifiers import PatientId, hashed
from data_models.memory_blocks import KeyPoint, MemoryBlocks, MemoryChange
from data_models.tool_memory import EntityContext
from services.memory_edits.places import (
    PERSON,
    ItemKind,
    Place,
    State,
    Stored,
    every_place,
    place_of_change,
    places_of,
)

ItemStatus = Literal["active", "retired", "expired", "deleted", "superseded", "unverified"]
_SHOWN_DATA_CHARS = 400


class MemorySources(BaseModel):
    """Where an item comes from.

    Attributes:
        turns: Numbers of turns, here or in the archive.
        runs: Ids of tool runs that the memory still holds.
    """

    turns: list[int] = Field(default_factory=list)
    runs: list[str] = Field(default_factory=list)
    tool: str | None = None
    agent: str | None = None


class MemoryItem(BaseModel):
    """One thing that is remembered.

    Attributes:
        origin: Who wrote it: `user_stated`, `extracted`, `inferred`, `model`, `rules`, `tool`
            or `person`.
        can_correct: Whether a person may give it another value, or confirm the one it has.
        quote: The words of a user that say it.
    """

    id: str
    kind: ItemKind
    label: str
    value: Any = None
    status: ItemStatus = "active"
    origin: str
    updated_at: AwareDatetime | None = None
    sources: MemorySources = Field(default_factory=MemorySources)
    can_correct: bool = True
    quote: str = ""
    said_by: str = ""


class MemoryRun(BaseModel):
    """One run of a tool: what ran, for what, and what came of it."""

    id: str
    tool: str
    agent: str
    asked: str
    parameters: dict[str, Any]
    result: str
    success: bool
    error: str | None
    at: AwareDatetime
    duration_ms: float
    turn_id: int


class MemoryChangeRow(MemoryChange):
    """One change by a person; `before` and `after` are values as people read them."""

    before: Any = None
    after: Any = None
    can_undo: bool


class MemoryView(BaseModel):
    """All of one patient's memory.

    Attributes:
        revision: Of all that people can change; goes back with a change.
        understood: What was understood of what the user said.
        found: What tools found.
        ran: Tool runs, the newest first.
        changes: The newest first.
        blocks: The four memory blocks under their own names.
    """

    patient_id: PatientId | None
    revision: str
    topic: MemoryItem | None
    phase: str
    summary: str
    understood: list[MemoryItem]
    found: list[MemoryItem]
    ran: list[MemoryRun]
    changes: list[MemoryChangeRow]
    blocks: dict[str, Any]


def revision_of(document: ChatContext) -> str:
    """Return a name for the patient and the state of all items.

    Not of the topic, which moves with every turn.
    """
    places = [one for one in every_place(document) if one.kind != "topic"]
    states = [(one.item_id, _seen(one.read(document))) for one in places]
    text = orjson.dumps(
        [document.patient_id, states, document.memory_changes.next_change], default=str
    )
    return hashed(text.decode())[:16]


def view_of(
    document: ChatContext, *, now: datetime, summary: str, blocks: Mapping[str, Any]
) -> MemoryView:
    """Return the memory of `document` as it stands at `now`."""
    items = [_item(place, one, document, now) for place, one in places_of(document, *_LISTED)]
    items += _retired(document)
    return MemoryView(
        patient_id=document.patient_id,
        revision=revision_of(document),
        topic=_topic(document.memory),
        phase=document.memory.conversation_phase,
        summary=summary,
        understood=[one for one in items if one.kind in ("point", "wish")],
        found=[one for one in items if one.kind in ("finding", "thing")],
        ran=[
            MemoryRun(
                id=one.execution_id, tool=one.tool_name, agent=one.agent_name,
                asked=one.user_request, parameters=one.parameters, result=one.result,
                success=one.success, error=one.error_message, at=one.timestamp,
                duration_ms=one.execution_time_ms, turn_id=one.turn_id,
            )
            for one in reversed(document.tool_memory.executions)
        ],
        changes=[_change(one) for one in reversed(document.memory_changes.changes)],
        blocks=dict(blocks),
    )  # fmt: skip


_LISTED: Sequence[ItemKind] = ("point", "wish", "finding", "thing")


def _topic(memory: MemoryBlocks) -> MemoryItem | None:
    if not (topic := memory.active_topic):
        return None
    turns = [one.turn for one in memory.topic_transitions if one.topic == topic]
    sources = MemorySources(turns=turns[-1:])
    return MemoryItem(
        id="topic", kind="topic", label="Topic", value=topic, origin="rules", sources=sources
    )


def _retired(document: ChatContext) -> Iterator[MemoryItem]:
    """Yield what a person took out and nobody put back."""
    for change in document.memory_changes.changes:
        place = None if change.undone else place_of_change(change.item)
        is_out = change.action == "retire" and change.after is None and change.before is not None
        if place is None or not is_out or place.read(document) is not None:
            continue
        yield MemoryItem(
            id=change.item, kind=place.kind, label=place.label, status="retired",
            value=_value(place.kind, change.before), origin=PERSON, updated_at=change.at,
            can_correct=False,
        )  # fmt: skip


def _item(place: Place, one: Stored, document: ChatContext, now: datetime) -> MemoryItem:
    shown = _shown(place, one, document, now)
    return MemoryItem(id=place.item_id, kind=place.kind, label=place.label, **shown)


def _shown(place: Place, one: Stored, document: ChatContext, now: datetime) -> dict[str, Any]:
    match one:
        case KeyPoint():
            return {
                "value": one.text,
                "status": one.status,
                "origin": one.source,
                "sources": MemorySources(turns=[one.turn_id] if one.turn_id else []),
                "can_correct": one.status in ("active", "unverified"),
                "quote": one.quote,
                "said_by": one.said_by,
            }
        case ConversationEntity():
            turns = MemorySources(turns=_turns_at(document, one.updated_at))
            said = {"value": one.value, "origin": one.provenance}
            return said | {"updated_at": one.updated_at, "sources": turns}
        case DerivedEntity():
            return _finding(one, document, now)
        case EntityContext():
            return _thing(place, one, document)


def _finding(one: DerivedEntity, document: ChatContext, now: datetime) -> dict[str, Any]:
    tool = None if one.source_tool in (LLM_REASONING, PERSON) else one.source_tool
    runs = [
        run
        for run in document.tool_memory.executions
        if run.tool_name == tool and run.timestamp <= one.updated_at
    ][-1:]
    by_person = PERSON if one.source_tool == PERSON else "model"
    return {
        "value": one.value,
        "status": "expired" if one.is_expired(now) else "active",
        "origin": by_person if tool is None else "tool",
        "updated_at": one.updated_at,
        "sources": MemorySources(
            turns=[run.turn_id for run in runs] or _turns_at(document, one.updated_at),
            runs=[run.execution_id for run in runs], tool=tool, agent=one.agent_name,
        ),
    }  # fmt: skip


def _thing(place: Place, one: EntityContext, document: ChatContext) -> dict[str, Any]:
    was_retired = any(
        change.item == place.item_id and change.action == "retire" and not change.undone
        for change in document.memory_changes.changes
    )
    status = "retired" if was_retired and one.status == "deleted" else one.status
    runs = document.tool_memory.executions
    run = next((run for run in runs if run.execution_id == one.source_execution_id), None)
    return {
        "status": status,
        "origin": "tool",
        "value": None if one.is_private else _shown_data(one),
        "updated_at": one.created_at,
        "sources": MemorySources()
        if run is None
        else MemorySources(
            turns=[run.turn_id], runs=[run.execution_id], tool=run.tool_name, agent=run.agent_name
        ),
        "can_correct": status == "active" and not one.is_private,
    }


def _turns_at(document: ChatContext, moment: datetime) -> list[int]:
    """Return the turn that ran at `moment`, if it is still in the document."""
    return [one.turn_id for one in document.chat_history if one.timestamp <= moment][-1:]


def _change(one: MemoryChange) -> MemoryChangeRow:
    kind: Any = one.item.partition(":")[0]
    shown = {"before": _value(kind, one.before), "after": _value(kind, one.after)}
    return MemoryChangeRow(**one.model_dump() | shown, can_undo=not one.undone)


def _value(kind: ItemKind, state: State | None) -> Any:
    """Return what people call the value of a stored state; None if there is nothing to see."""
    if state is None or state.get("status") in ("retired", "deleted") or state.get("is_private"):
        return None
    names = {"topic": "topic", "point": "text", "thing": "display_name"}
    return state.get(names.get(kind, "value"))


def _shown_data(one: EntityContext) -> dict[str, Any]:
    """Return the short values of what a tool gave."""
    rows: Sequence[tuple[str, Any]] = list(one.data.items())
    return {
        key: value[:_SHOWN_DATA_CHARS] if isinstance(value, str) else value
        for key, value in rows
        if isinstance(value, str | int | float | bool) and value != ""
    }


def _seen(state: State | None) -> Any:
    """Return what of a state people can change or see change."""
    if state is None:
        return None
    keys = ("topic", "text", "value", "display_name", "status", "provenance", "source_tool")
    return [state.get(key) for key in keys]
