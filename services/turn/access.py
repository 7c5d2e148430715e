"""Lets a turn into a chart; puts on record that it went there, its receipt, and the user's look."""

import asyncio
from dataclasses import dataclass, field
from functools import partial

import structlog

from data_models.conversations.turn_events import Notice
from data_models.errors import AuditUnavailableError, RecordsError, RoundsError, StoreError
from data_models.identifiers import PatientId
from data_models.storage.blob_store import BlobStore
from services.audit.receipt import ReceiptFacts, digest_of, receipt_of
from services.audit.trail import AuditEntry, Visitor
from services.chart_access.chart_guard import ChartGuard
from services.evidence.changes import chart_states, line_of
from services.evidence.looks import LookBook, RecentLooks
from services.language.words.own_texts import in_own_language
from services.records.big_charts import make_view
from services.records.resources.ports import PatientRecords
from services.turn.phases import ClaimedTurn, GroundedTurn
from services.turn.reading import spoken_in
from settings import Settings

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLooks:
    """Reads the chart that a turn has opened; the guard let the user in by then.

    Attributes:
        book: None: no looks are kept.
    """

    book: LookBook | None = None
    records: PatientRecords | None = None
    recent: RecentLooks = field(default_factory=RecentLooks)

    async def take(self, turn: GroundedTurn) -> None:
        """Take the chart in as it is now; tell what changed where the look before has ended.

        Neither a chart that cannot be read nor a lost note keeps a turn from being answered.
        """
        patient_id = turn.patient_id
        if patient_id is None or self.book is None or self.records is None:
            return
        key = turn.message.sender.principal_id, patient_id
        try:
            record = await self.records.load(patient_id)
            look = turn.sessions.look = self.recent.taken(key, record, turn.now)
            if look is not None:
                return
            now = await make_view(record, partial(chart_states, at=turn.now))
            look = turn.sessions.look = await self.book.take(*key, now)
        except (RecordsError, StoreError) as error:
            _log.info("look_not_taken", error=type(error).__name__)
            return
        earlier = look.earlier
        if earlier is not None and earlier.is_over(turn.now):
            line = in_own_language(line_of(earlier.last, now), spoken_in(turn))
            turn.run.emit(Notice("told", line))
        if earlier is not None and earlier.is_noted(now):
            self.recent.keep(key, record, earlier)

    async def note(self, turn: GroundedTurn) -> None:
        """Note what the user has seen, once the turn is stored; of a round they saw nothing yet."""
        if turn.sessions.look is None or turn.patient_id is None or self.book is None:
            return
        if turn.message.is_of_rounds:
            return
        user = turn.message.sender.principal_id
        try:
            await self.book.note(user, turn.patient_id, turn.sessions.look)
        except StoreError as error:
            _log.info("look_not_noted", error=type(error).__name__)


def look_book_for(settings: Settings, *, users: BlobStore) -> LookBook | None:
    """Return who keeps looks; None: nobody does.

    Unless it is asked for, a FHIR server is not: it would be read whole at each opening.
    """
    is_wanted = settings.since_last_looked
    if is_wanted is None:
        is_wanted = settings.fhir_base_url is None
    return LookBook(store=users) if is_wanted else None
