"""Carries out what the user has confirmed, and remembers it like any other tool run."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from zoneinfo import ZoneInfo

from data_models.clock import Clock
from data_models.conversation import OpenQuestion
from data_models.errors import StoreUnavailableError, ToolInputError
from services.assistant.confirmed_actions import (
    DEEDS,
    Action,
    AssistantService,
    action_of,
    items_of,
)
from services.assistant.shown import spoken
from services.assistant.undo_log import Undoable, UndoableDeed, patient_name
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.turn.draft import TurnDraft
from services.turn.tools import TurnTools

_UNDONE: Mapping[Undoable, str] = {
    "move_event": "Moved back",
    "complete_task": "Open again",
    "move_task": "Moved back",
    "change_contact": "Changed back",
}
_NOT_UNDONE = "It was changed again since, or is gone. Nothing was undone."


class TurnActions:
    """Does what a question of kind `destructive_tool` asked about. Holds no state of any turn."""

    def __init__(self, *, tools: TurnTools, clock: Clock) -> None:
        self._tools = tools
        self._clock = clock

    def refused(self, question: OpenQuestion) -> str:
        """Return what the user is told after a no."""
        names = [name for _, name in items_of(question.payload)]
        if len(names) == 1:
            return f"Nothing was changed: {names[0]} stays as it is."
        return f"Nothing was changed: {'; '.join(names)} stay as they are."

    async def carried_out(self, turn: TurnDraft, question: OpenQuestion) -> str:
        """Do what was asked about, and return what the user is told."""
        memory, scheduler = self._tools.open(turn), self._tools.assistant
        if scheduler is None:
            return self.refused(question)
        began, error = self._clock.monotonic(), None
        try:
            text = await self._done(turn, question, scheduler, memory)
        except (ToolInputError, StoreUnavailableError) as failure:
            text, error = failure.user_message, str(failure)
        memory.record(
            FinishedRun(
                tool=str(question.payload.get("action", "")),
                agent=str(question.payload.get("agent", "")),
                parameters={"id": question.payload.get("entity_id")},
                data={"result": text},
                error=error,
                duration_ms=(self._clock.monotonic() - began) * 1_000,
            )
        )
        return text

    async def newest_deed(self, turn: TurnDraft) -> UndoableDeed | None:
        """Return the newest change of the user's own items that "undo" takes back.

        None in a group, where others read along.
        """
        scheduler, message = self._tools.assistant, turn.claim.message
        if scheduler is None or message.is_group:
            return None
        try:
            return await scheduler.newest_deed(message.sender.principal_id, now=turn.now)
        except StoreUnavailableError:
            return None  # what cannot be looked up is undone by nobody

    async def undone(self, turn: TurnDraft, deed: UndoableDeed) -> str:
        """Take `deed` back, and return what the user is told."""
        scheduler, zone = self._tools.assistant, self._tools.open(turn).zone or ZoneInfo("UTC")
        if scheduler is None:
            return _NOT_UNDONE
        principal = turn.claim.message.sender.principal_id
        await turn.claim.hold()
        try:
            item = await scheduler.undo(deed, principal_id=principal, zone=zone)
        except (ToolInputError, StoreUnavailableError) as failure:
            return failure.user_message
        if item is None:
            return _NOT_UNDONE
        is_private = deed.patient != patient_name(turn.patient_id)
        return f"{_UNDONE[deed.tool]}: {spoken(item, zone, is_private=is_private)}."

    async def _done(
        self,
        turn: TurnDraft,
        question: OpenQuestion,
        scheduler: AssistantService,
        memory: ToolMemorySession,
    ) -> str:
        action = action_of(question.payload.get("action"))
        principal = turn.claim.message.sender.principal_id
        zone: tzinfo = memory.zone or ZoneInfo("UTC")
        done, gone = list[str](), list[str]()
        for item_id, name in items_of(question.payload):
            await turn.claim.hold()  # one that slept through its claim does nothing
            try:
                was_there = await scheduler.perform(
                    action, item_id, principal_id=principal, zone=zone
                )
            except (ToolInputError, StoreUnavailableError) as failure:
                if not done:
                    raise
                return f"{_told(action, done, gone)} *Not* done: {name}. {failure.user_message}"
            if DEEDS[action].removes:
                memory.deleted(item_id)
            (done if was_there else gone).append(name)
        return _told(action, done, gone)


def _told(action: Action, done: Sequence[str], gone: Sequence[str]) -> str:
    told = [f"{DEEDS[action].done}: {'; '.join(done)}."] if done else []
    return " ".join([*told, *(f"{name} was no longer there." for name in gone)])
