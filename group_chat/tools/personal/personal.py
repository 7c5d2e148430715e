"""What the tools over the user's own calendar, mail, contacts, tasks and documents share.

One path for all that changes an item: find what the user means, ask which where several may be
meant, and ask for a yes, by name, before anything is deleted or sent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import wraps
from itertools import chain
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

from pydantic import Field

from data_models.errors import ToolInputError
from data_models.tool_memory import EntityType
from group_chat.drafts.citations import is_of_talk
from group_chat.tools.personal.said_times import SaidTimes
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.assistant import undo_log
from services.assistant.back_end import (
    AssistantServices,
    Origin,
    is_for_another,
)
from services.assistant.own_things import Contact
from services.group_chat_port import QuestionAsked
from services.language.people.names_within import names_one_of, prepare
from services.language.requests.orders import may_order_change
from services.records.patient_names import PatientNames
from services.tool_memory.extractors import with_time_only
from services.tool_memory.resolution import Ambiguous, NotFound, Resolution, Resolved
from services.tool_memory.session import ToolMemorySession

ROWS_SHOWN = 25
NOT_IN_GROUPS = (
    "the user's own calendar, mail, contacts, tasks and documents are not shown in a group, where "
    "everybody reads along; the user can ask in a one-to-one chat"
)
_ASKED = "the user is asked to confirm; nothing is done yet; say no more"
_NOT_ORDERED = (
    "the user has not asked for this change; nothing is done; ask them whether they want it, and "
    "call again after their yes"
)
_UNCLEAR = (
    "it is not clear which {kind} is meant; list or search them first, then ask the user to name it"
)
_NONE = (
    "no {kind} that is known here is called so; list or search them first, then tell the user "
    "that there is none"
)
_GONE = "one of them is not there any more; list them again, nothing is done yet"
_WHICH = "several may be meant; the user is asked which; say no more"
_WORDS: dict[EntityType, str] = {
    "calendar_event": "event",
    "email": "message",
    "contact": "contact",
    "task": "task",
    "document": "document",
}
Found = TypeVar("Found", bound=undo_log.Item)


@dataclass(frozen=True, slots=True)
class PersonalAssistant:
    """Opens the services of whoever asks; built once."""

    own: undo_log.AssistantService
    names: PatientNames

    async def open(self, turn: TurnContext, *, changes: bool = False) -> "OpenAssistant":
        """Return the assistant of this turn's user; from now on other patients' names are withheld.

        Args:
            changes: Whether something is made or changed, or the user is asked for a yes to that.

        Raises:
            ToolInputError: the turn has no tool memory, others read along, or the user asked for
                no change.
            AssistantError: the user has no such services.
            RecordsError: nobody can tell who the other patients are.
        """
        if (memory := turn.request.tool_memory) is None:
            raise ToolInputError("there is no tool memory in this turn")
        request = turn.request
        if request.is_group:
            raise ToolInputError(NOT_IN_GROUPS)
        if changes and not _is_ordered(turn):
            raise ToolInputError(_NOT_ORDERED)
        memory.withhold(await self.names.names_of_others(request.patient_id, memory.roster))
        await asyncio.to_thread(prepare, frozenset(memory.others))
        zone = memory.zone or UTC
        services = self.own.back_end.of(request.principal_id, zone=zone)
        origins = await self.own.made_for.origins(request.principal_id)
        return OpenAssistant(self.own, turn, services, memory, zone, origins)


@dataclass(frozen=True, slots=True)
class OpenAssistant(SaidTimes):
    """One user's services for the length of one tool call.

    Attributes:
        origins: In whose chart items were made, by their ids.
    """

    own: undo_log.AssistantService
    turn: TurnContext
    services: AssistantServices
    memory: ToolMemorySession
    zone: tzinfo
    origins: Mapping[str, Origin]

    def rows(self, items: Sequence[undo_log.Item]) -> list[dict[str, Any]]:
        """Return items for a model; of those that name another patient only the time."""
        return [self._row(item) for item in items]

    async def show_made(self, item: undo_log.Item) -> list[dict[str, Any]]:
        """Return an item that was just made, and remember in whose chart: it is theirs."""
        request = self.turn.request
        if request.patient_id is not None:
            await self.own.made_for.note(
                item.id,
                principal_id=request.principal_id,
                patient_id=request.patient_id,
                conversation_id=request.conversation_id,
            )
        return self.rows([item])

    async def undoable(
        self, tool: undo_log.Undoable, before: undo_log.OwnItem | None, after: undo_log.OwnItem
    ) -> None:
        """Remember how an item was before this user's action, so that "undo" brings it back."""
        request = self.turn.request
        action = undo_log.UndoableAction(
            tool=tool,
            patient=undo_log.patient_name(request.patient_id),
            conversation=request.conversation_id,
            at=self.memory.now,
            before=before,
            after=after,
        )
        await self.own.undo_log.note(action, principal_id=request.principal_id)

    def listed(self, name: str, items: Sequence[undo_log.Item]) -> dict[str, Any]:
        """Return the first rows of a listing, and whether there are more."""
        rows = self.rows(items[:ROWS_SHOWN])
        return {name: rows, "more": len(items) > ROWS_SHOWN, "time_zone": str(self.zone)}

    async def meant(
        self,
        kind: EntityType,
        given: str,
        get: Callable[[str], Awaitable[Found | None]],
        *,
        without: Sequence[str] = (),
    ) -> Found:
        """Return the one item that the user means; a model's id that their words do not refuse.

        Args:
            without: Words of the user that say what the item becomes, not what it is.

        Raises:
            ToolInputError: none is meant, or several may be; then the user is asked which.
        """
        hint = {"id": given} if given else {}
        found = self.memory.resolve(kind, hint, without=without)
        return await self._one(kind, found, get)

    async def all_meant(
        self,
        kind: EntityType,
        given: str,
        get: Callable[[str], Awaitable[Found | None]],
        *,
        asks_first: bool = True,
    ) -> list[Found]:
        """Return what the user means: one item, or every one of "both", "the last two", "all".

        The caller asks for one yes that names them all.

        Args:
            asks_first: Whether the user says yes to a single item, too, before anything is done.

        Raises:
            ToolInputError: none is meant, or one of several may be; then the user is asked which.
        """
        hint = {"id": given} if given else {}
        found = self.memory.resolve(kind, hint, asks_first=asks_first)
        if not (isinstance(found, Ambiguous) and found.is_every):
            return [await self._one(kind, found, get)]
        items = [await get(one) for one in found.entity_ids]
        live = [one for one in items if one is not None]
        if len(live) < len(items):
            raise ToolInputError(_GONE)
        return live

    async def _one(
        self, kind: EntityType, found: Resolution, get: Callable[[str], Awaitable[Found | None]]
    ) -> Found:
        if isinstance(found, Ambiguous):
            asked = self.memory.asked_which(_WORDS[kind], found.entity_ids, agent=self.turn.agent)
            self.turn.emit(QuestionAsked("which_entity", *asked))
            raise ToolInputError(_WHICH)
        item = await get(found.entity_id) if isinstance(found, Resolved) else None
        if item is None or not isinstance(found, Resolved):
            is_named = isinstance(found, NotFound) and found.is_named
            raise ToolInputError((_NONE if is_named else _UNCLEAR).format(kind=_WORDS[kind]))
        self.memory.note_used(found)
        return item

    def _named(self, item: undo_log.Item) -> str:
        is_private = self._names_other(item)
        return undo_log.spoken(item, self.zone, now=self.memory.now, is_private=is_private)

    def ask_first(self, action: undo_log.Action, items: Sequence[undo_log.Item]) -> ToolOutput:
        """Ask for one yes that is bound to each of `items` by its id and its name."""
        rows = [{"entity_id": one.id, "name": self._named(one)} for one in items]
        names = [row["name"] for row in rows]
        payload = {
            "action": action,
            **rows[0],
            "items": rows,
            "agent": self.turn.agent,
            "zone": str(self.zone),
        }
        self.turn.emit(
            QuestionAsked("destructive_tool", undo_log.question_of(action, names), payload)
        )
        return {"asked": _ASKED}

    def _row(self, item: undo_log.Item) -> dict[str, Any]:
        row = undo_log.shown(item, self.zone)
        if self._is_of_another(item):
            return with_time_only(row, undo_log.kind_of(item)) | {"title": undo_log.ABOUT_ANOTHER}
        return with_time_only(row, undo_log.kind_of(item)) if self._names_other(item) else row

    def _is_of_another(self, item: undo_log.Item) -> bool:
        return is_for_another(self.origins.get(item.id), self.turn.request.patient_id)

    def _names_other(self, item: undo_log.Item) -> bool:
        called = item.name if isinstance(item, Contact) else ""
        row = undo_log.whole(item, self.zone)
        return self._is_of_another(item) or names_one_of(row, self.memory.others, called=called)


def _is_ordered(turn: TurnContext) -> bool:
    """Whether the user's own words may ask for a change: a note or a mail that a tool read may not.

    A press is an answer to what was asked before; a model that read the message may have taken it
    for an order in a language that rules do not know.
    """
    request = turn.request
    is_act = request.utterance is not None and request.utterance.task == "act"
    return request.press is not None or is_act or may_order_change(request.text)


Day: TypeAlias = Annotated[str | None, Field(max_length=32)]
Title: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
OwnId: TypeAlias = Annotated[str, Field(max_length=500, description="Its id, if a tool gave one.")]
_WRITTEN = ("title", "notes", "location", "name", "email", "phone", "organization")
_NOT_SAID = "the user did not say that {fields}; nothing is done; use the user's own words"
_Run: TypeAlias = Callable[..., Awaitable[ToolOutput]]


class OwnTools(NamedTuple):
    """Tools over one kind of what is a user's own, as functions of the assistant of the turn.

    Attributes:
        changes: What makes or changes something at once.
        asks: What only asks for a yes to that.
    """

    reads: tuple[_Run, ...]
    changes: tuple[_Run, ...] = ()
    asks: tuple[_Run, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, as models call them."""
        return tuple(run.__name__ for run in chain(*self))

    def over(self, office: PersonalAssistant) -> tuple[Tool, ...]:
        """Return the tools over the own things of whoever asks."""
        return (
            *tools_of(*(_opened(office, run, changes=False) for run in self.reads)),
            *tools_of(*(_opened(office, run, changes=True) for run in self.changes), changes=True),
            *tools_of(*(_opened(office, run, changes=True) for run in self.asks)),
        )


def _opened(
    office: PersonalAssistant, run: _Run, *, changes: bool
) -> Callable[..., Awaitable[ToolOutput]]:
    @wraps(run)
    async def open_first(turn: TurnContext, **asked: Any) -> ToolOutput:
        assistant = await office.open(turn, changes=changes)
        # What is written to others is the model's to word: it is read before it is sent.
        own = _WRITTEN if changes and "to" not in asked else ()
        if unsaid := [one for one in own if not is_of_talk(str(asked.get(one) or ""), turn)]:
            raise ToolInputError(_NOT_SAID.format(fields=" and ".join(unsaid)))
        return await run(assistant, **asked)

    return open_first
