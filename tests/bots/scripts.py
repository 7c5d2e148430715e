"""Runs as scripts for the scripted scheduler."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from data_models.chat_context import AgentMessage, Citation
from data_models.clock import SystemClock
from data_models.conversations import turn_events
from data_models.conversations.plan import Plan, PlanStep
from services.runs.hub import Run
from tests.routes.fakes import state

NOW = SystemClock().now()
Script = Callable[[Run], Awaitable[None]]


def plan_of(*texts: str, **changes: Any) -> Plan:
    """Return a plan whose steps are Radiology's."""
    steps = [
        PlanStep(number=number, agent="Radiology", text=text)
        for number, text in enumerate(texts, 1)
    ]
    return Plan(
        plan_id="plan_1", run_id="run_1", steps=steps, created_at=NOW, updated_at=NOW, **changes
    )


class Talk:
    """Emits the events of a turn, at the pace that a test gives."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._stop = run.stop_requested()

    def begin(self, **changes: Any) -> None:
        self.run.emit(
            turn_events.RunStarted(run_id=self.run.run_id, conversation_id=self.run.conversation_id)
        )
        self.show(**changes)

    def show(self, **changes: Any) -> None:
        self.run.emit(turn_events.StateChanged(state=state(self.run.conversation_id, **changes)))

    async def say(
        self,
        *pieces: str,
        agent: str = "Radiology",
        message_id: str = "m1",
        apart: float = 0.0,
        citations: tuple[Citation, ...] = (),
        at_last: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Say `pieces`, each `apart` seconds after the one before, and end after `at_last`."""
        self.run.emit(turn_events.AgentMessageStarted(message_id=message_id, agent=agent))
        said = []
        for piece in pieces:
            if self.run.is_finished or self.is_stopped:
                break
            said.append(piece)
            self.run.emit(turn_events.AgentTextDelta(message_id=message_id, text=piece))
            await asyncio.sleep(apart)
        if at_last is not None:
            await at_last()
        message = AgentMessage(
            message_id=message_id,
            agent=agent,
            text="".join(said),
            timestamp=NOW,
            citations=list(citations),
        )
        self.run.emit(turn_events.AgentMessageFinished(message=message))

    @property
    def is_stopped(self) -> bool:
        """Whether somebody has asked the turn to end."""
        return self._stop.done()

    def end(self, outcome: Any = "success") -> None:
        self._stop.cancel()
        self.run.emit(turn_events.RunFinished(outcome=outcome, timing=turn_events.TurnTiming()))


def telling(tell: Callable[[Talk], Awaitable[None]], **changes: Any) -> Script:
    """Return a script that begins, has `tell` say something, and ends."""

    async def script(run: Run) -> None:
        talk = Talk(run)
        talk.begin(**changes)
        await tell(talk)
        if not run.is_finished:
            # Once a stop is asked for, the loop needs a moment to tell.
            await asyncio.sleep(0)
            talk.end("cancelled" if talk.is_stopped else "success")

    return script
