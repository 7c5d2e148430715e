"""Puts on the audit trail that a model tried to reach another patient (spec page 7, R6)."""

from group_chat.tools.watcher import LogToolWatcher, ToolRun
from group_chat.turn_context import TurnContext
from services.audit.entry import AuditEntry
from services.audit.trail import Audit


class AuditToolWatcher:
    """Logs tool runs; the turn's own record covers those that stayed with its patient."""

    def __init__(self, *, audit: Audit) -> None:
        self._audit = audit
        self._log = LogToolWatcher()

    async def finished(self, turn: TurnContext, run: ToolRun) -> None:
        """See `ToolWatcher.finished`."""
        await self._log.finished(turn, run)

    async def refused_patient(self, turn: TurnContext, tool: str) -> None:
        """See `ToolWatcher.refused_patient`.

        Raises:
            AuditUnavailableError: the attempt could not be put on record; the turn ends.
        """
        await self._log.refused_patient(turn, tool)
        request = turn.request
        await self._audit.record(
            AuditEntry(
                principal=request.principal_id,
                conversation=request.conversation_id,
                patient=request.patient_id,
                run_id=request.run_id,
                actions=(f"tool_refused_patient:{tool}",),
                outcome="refused",
            )
        )
