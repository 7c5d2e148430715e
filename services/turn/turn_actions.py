"""Carries out what the user has confirmed, and remembers it like any other tool run."""

from datetime import tzinfo
from zoneinfo import ZoneInfo

from data_models.clock import Clock
from data_models.conversation import OpenQuestion
from data_models.errors import StoreUnavailableError, ToolInputError
from services.assistant.confirmed_actions import DEEDS, Action, AssistantService, action_of
from services.tool_memory.session import FinishedRun, ToolMemorySession
from services.turn.draft import TurnDraft
from services.turn.tools import TurnTools


class TurnActions:
    """Does what a question of kind `destructive_tool` asked about. Holds no state of any turn."""

    def __init__(self, *, tools: TurnTools, clock: Clock) -> None:
        self._tools = tools
        self._clock = clock

    def refused(self, question: OpenQuestion) -> str:
        """Return what the user is told after a no."""
        return f"Nothing was changed: {question.payload['name']} stays as it is."

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

    async def _done(
        self,
        turn: TurnDraft,
        question: OpenQuestion,
        scheduler: AssistantService,
        memory: ToolMemorySession,
    ) -> str:
        action = action_of(question.payload.get("action"))
        item_id, name = str(question.payload["entity_id"]), str(question.payload["name"])
        principal = turn.claim.message.sender.principal_id
        zone: tzinfo = memory.zone or ZoneInfo("UTC")
        await turn.claim.hold()  # one that slept through its claim does nothing
        was_there = await scheduler.perform(action, item_id, principal_id=principal, zone=zone)
        if DEEDS[action].removes:
            memory.deleted(item_id)
        return _told(action, name, was_there=was_there)


def _told(action: Action, name: str, *, was_there: bool) -> str:
    return f"{DEEDS[action].done}: {name}." if was_there else f"{name} was no longer there."
