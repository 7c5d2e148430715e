"""Remembers every tool run for the patient of its turn; no tool can forget to."""

from dataclasses import replace

from group_chat.tools.watcher import ToolRun, ToolWatcher
from group_chat.turn_context import TurnContext
from services.tool_memory.session import FinishedRun


class MemoryToolWatcher:
    """A `ToolWatcher` that records, then tells the next one."""

    def __init__(self, *, then: ToolWatcher) -> None:
        self._then = then

    async def finished(self, turn: TurnContext, run: ToolRun) -> None:
        """See `ToolWatcher.finished`."""
        memory = turn.request.tool_memory
        if memory is not None:
            kept = memory.record(
                FinishedRun(
                    tool=run.tool,
                    agent=run.agent,
                    parameters=run.arguments,
                    data=run.data,
                    error=None if run.error_code is None else run.content,
                    duration_ms=run.duration_ms,
                )
            )
            run = replace(run, execution_id=kept.execution_id, entity_ids=tuple(kept.entity_ids))
        await self._then.finished(turn, run)

    async def refused_patient(self, turn: TurnContext, tool: str) -> None:
        """See `ToolWatcher.refused_patient`."""
        await self._then.refused_patient(turn, tool)
