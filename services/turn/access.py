"""Lets a turn into a chart, and puts on record that it went there."""

from dataclasses import dataclass

from data_models.identifiers import PatientId
from services.audit.entry import AuditEntry
from services.audit.trail import Audit
from services.chart_access.chart_guard import ChartGuard
from services.turn.phases import ClaimedTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAccess:
    """Asks the guard and tells the trail, in that order. Holds no state of any turn."""

    guard: ChartGuard
    audit: Audit

    async def record(self, turn: ClaimedTurn, patient_id: PatientId | None, *, action: str) -> None:
        """Put this turn's access to one patient on the audit trail; returns when it is durable.

        Raises:
            ChartClosedError: the chart is not open to the sender, whoever of a group opened it.
            AuditUnavailableError: the access is not on record, so it does not happen.
        """
        principal_id = turn.message.sender.principal_id
        await self.guard.enter(
            principal_id,
            patient_id,
            conversation_id=turn.conversation_id,
            run_id=turn.run.run_id,
        )
        await self.audit.record(
            AuditEntry(
                principal=principal_id,
                conversation=turn.conversation_id,
                patient=patient_id,
                run_id=turn.run.run_id,
                actions=(action,),
            )
        )
