"""Files what tools declare to derive, for the patient of their turn and the agent that asked."""

from group_chat.tools.derivations import DERIVES
from group_chat.tools.watcher import ToolRun, ToolWatcher
from group_chat.turn_context import TurnContext
from services.entities.session import StoredRun
from services.turn.entities import eviction_notice


class EntityToolWatcher:
    """A `ToolWatcher` that files, then tells the next one."""

    def __init__(self, *, then: ToolWatcher) -> None:
        self._then = then

    async def finished(self, turn: TurnContext, run: ToolRun) -> None:
        """See `ToolWatcher.finished`."""
        entities = turn.request.entities
        if entities is not None and run.data is not None:
            entities.store_tool_result(
                run.agent,
                run.tool,
                run.arguments,
                run.data,
                derives=DERIVES.get(run.tool, ()),
                run=StoredRun(run.execution_id, run.entity_ids),
            )
        notice = eviction_notice(entities) if entities is not None else None
        if notice is not None:
            turn.emit(notice)
        await self._then.finished(turn, run)

    async def refused_patient(self, turn: TurnContext, tool: str) -> None:
        """See `ToolWatcher.refused_patient`."""
        await self._then.refused_patient(turn, tool)
