"""The seam where others learn of tool runs: the audit trail, the tool memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import structlog

from data_models.identifiers import hashed
from group_chat.turn_context import TurnContext


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One finished call of a tool.

    Attributes:
        arguments: As checked; empty where they could not be read.
        content: What the model was given.
        data: The whole result before it was bounded; None where the call failed.
        error_code: Code of the error, None where there was none.
        execution_id: Under which tool memory keeps the run; empty where it keeps none.
        entity_ids: What tool memory found in the result.
    """

    call_id: str
    agent: str
    tool: str
    arguments: Mapping[str, Any]
    content: str
    data: Mapping[str, Any] | None
    error_code: str | None
    duration_ms: float
    execution_id: str = ""
    entity_ids: tuple[str, ...] = ()


class ToolWatcher(Protocol):
    """Told of every run, before the model sees its result."""

    async def note_run(self, turn: TurnContext, run: ToolRun) -> None:
        """Note a run. Raising ends the turn."""
        ...

    async def note_refused_patient(self, turn: TurnContext, tool: str) -> None:
        """Note that a model named another patient than the turn's (R6). Raising ends the turn."""
        ...


class LogToolWatcher:
    """Writes names and durations to the log, nothing that a model or a record said."""

    def __init__(self) -> None:
        self._log = structlog.get_logger()

    async def note_run(self, turn: TurnContext, run: ToolRun) -> None:
        self._log.info(
            "tool_run",
            run=turn.request.run_id,
            conversation=hashed(turn.request.conversation_id),
            agent=run.agent,
            tool=run.tool,
            error_code=run.error_code,
            duration_ms=round(run.duration_ms, 1),
        )

    async def note_refused_patient(self, turn: TurnContext, tool: str) -> None:
        self._log.warning(
            "tool_refused_patient",
            run=turn.request.run_id,
            conversation=hashed(turn.request.conversation_id),
            agent=turn.agent,
            tool=tool,
        )
