"""Lets a turn into a chart; puts on record that it went there, and its receipt."""

import asyncio
from dataclasses import dataclass, field

import structlog

from data_models.errors import AuditUnavailableError, RoundsError
from data_models.identifiers import PatientId
from services.audit.receipt import ReceiptFacts, digest_of, receipt_of
from services.audit.trail import AuditEntry, Visitor
from services.chart_access.chart_guard import ChartGuard
from services.turn.phases import ClaimedTurn, GroundedTurn

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAccess:
    """Asks the guard and tells the trail, in that order. Holds no state of any turn.

    Attributes:
        model: Name of the language model, or `offline`; "" for none: no receipts are made.
    """

    guard: ChartGuard
    model: str
    _recording: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    async def record(self, turn: ClaimedTurn, patient_id: PatientId | None, *, action: str) -> None:
        """Put this turn's access to one patient on the audit trail; returns when it is durable.

        Raises:
            ChartClosedError: the chart is not open to the sender, whoever of a group opened it.
            AuditUnavailableError: the access is not on record, so it does not happen.
        """
        who = turn.message.sender.principal_id
        visitor = Visitor(who, turn.conversation_id, turn.run.run_id)
        await self.guard.open_chart(visitor, patient_id, action)

    def receipt(self, turn: GroundedTurn, failure: RoundsError | None) -> bytes:
        """Return the receipt of a turn that is about to be stored; b"" where it leaves none."""
        if failure is not None or not self.model:
            return b""
        document = turn.document
        return receipt_of(
            ReceiptFacts(
                conversation=turn.conversation_id,
                patient_id=document.patient_id,
                principal=turn.message.sender.principal_id,
                model=self.model,
                turn=turn.row,
                executions=document.tool_memory.executions,
                views=turn.record.views,
                recorded=self.guard.clock.now(),
            )
        )

    def record_receipt(self, turn: GroundedTurn, receipt: bytes) -> None:
        """Begin to put the hash of a stored receipt, if there is one, on the trail.

        Nobody waits for it: what is recorded later, as whoever reads the receipt is, comes after.
        """
        if not receipt:
            return
        entry = AuditEntry(
            principal=turn.message.sender.principal_id,
            conversation=turn.conversation_id,
            patient=turn.document.patient_id,
            run_id=turn.run.run_id,
            actions=("turn",),
            outcome="done",
            receipt=digest_of(receipt),
        )
        task = asyncio.create_task(self._record_late(entry))
        self._recording.add(task)
        task.add_done_callback(self._recording.discard)

    async def _record_late(self, entry: AuditEntry) -> None:
        try:
            await self.guard.audit.record(entry)
        except AuditUnavailableError as error:
            _log.warning("receipt_not_on_record", error=type(error).__name__)
