"""What a turn reads and writes, in the order that survives a crash anywhere."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from data_models import errors
from data_models.chat_context import ChatContext, TurnStatus, advance
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock
from data_models.conversations.claim import Claim
from data_models.conversations.conversation_accessor import ComparisonAccessor
from data_models.documents import Stored
from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContextRegistryAccessor, Registry
from data_models.scenarios.scenario_session import ScenarioPlace
from services.conversations.earlier_turns import LegacyHistory
from services.memory_blocks.rotation import make_room, make_storable
from services.patient_context.roster import rejoined
from services.tool_memory.personal import PersonalToolMemories
from services.turn import phases
from services.turn.access import TurnAccess, TurnLooks
from services.turn.end import stored_turn
from services.turn.memory import TurnMemory
from services.turn.tools import close_tool_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDocuments:
    """Loads and stores the documents of a turn. The draft holds them; this holds none.

    Attributes:
        access: Puts each access on the audit trail, and makes the receipts.
        memory: Keeps their memory blocks; also what reads messages for the pipeline.
        looks: Tells what changed in a chart since the user's last look.
        comparisons: Two charts side by side, which are in no patient's document.
    """

    contexts: ChatContextAccessor
    registries: PatientContextRegistryAccessor
    legacy: LegacyHistory
    access: TurnAccess
    clock: Clock
    comparisons: ComparisonAccessor
    personal: PersonalToolMemories
    memory: TurnMemory
    looks: TurnLooks

    async def load(self, turn: phases.ClaimedTurn) -> phases.LoadedTurn:
        """Load the roster and the active pointer; adopt a legacy history at first contact.

        A chart that is closed to the sender is not there for them.
        """
        began = self.clock.monotonic()
        registry = await self.registries.read(turn.conversation_id, epoch=turn.claim.epoch)
        rows = registry.document.patient_registry
        closed = rows.keys() - await self.access.guard.open_to(_sender(turn), rows)
        took_ms = (self.clock.monotonic() - began) * 1_000
        loaded = turn.load(registry, registry_ms=took_ms, closed=frozenset(closed))
        if registry.etag is None and not turn.claim.was_known:
            await self.legacy.adopt(turn.claim, now=turn.now)
        return loaded

    async def scenario_of(
        self, turn: phases.LoadedTurn, patient_id: PatientId
    ) -> ScenarioPlace | None:
        """Return where a scenario of another chart of this conversation waits for an answer."""
        document = await self.beside(turn, patient_id)
        session = None if document is None else document.scenario
        if session is not None and session.step is not None and not session.is_left:
            return session.place
        return None

    async def beside(self, turn: phases.LoadedTurn, patient_id: PatientId) -> ChatContext | None:
        """Return the document of another chart than this turn writes, to look into.

        None where the chart is closed to the sender, or where it cannot be read: nobody is kept
        from a switch by it.
        """
        if not await self.access.guard.may_open(_sender(turn), patient_id):
            return None
        with suppress(errors.CorruptDocumentError, errors.StoreUnavailableError):
            read = self.contexts.read(turn.conversation_id, patient_id, epoch=turn.claim.epoch)
            return (await read).document
        return None

    async def activate(self, turn: phases.LoadedTurnT, registry: Registry) -> phases.LoadedTurnT:
        """Make the decided patient the active one.

        The claim names the patient first, so that whoever takes over rewrites the right document.
        """
        await turn.claim.name_patient(registry.active_patient_id)
        whole = rejoined(registry, turn.stored.document, turn.closed)
        whole.epoch = turn.claim.epoch
        etag = await _write_held(
            turn.claim,
            partial(self.registries.write, whole),
            etag=turn.stored.etag,
            etag_of=partial(self.registries.etag_of, turn.conversation_id),
        )
        return turn.with_registry(registry, Stored(whole, etag))

    async def open(
        self, turn: phases.UnderstoodTurn, patient_id: PatientId | None
    ) -> phases.GroundedTurn:
        """Read the document this turn writes, and put the access on record before anybody speaks.

        Raises:
            ChartClosedError: the chart is not open to the sender.
            CorruptDocumentError: the document is there and cannot be read.
            AuditUnavailableError: the access is not on record, so it does not happen.
        """
        record = self.access.record(turn, patient_id, action="turn")
        read = self.contexts.read(turn.conversation_id, patient_id, epoch=turn.claim.epoch)
        _, context = await asyncio.gather(record, read)
        await self.personal.open(context.document, principal_id=_sender(turn))
        # A dead replica may have left a turn in its middle.
        history = context.document.chat_history
        if history and history[-1].run_id == turn.run.run_id:
            history[-1] = await self.contexts.whole_turn(context.document, history[-1])
        grounded = turn.ground(context)
        await self.looks.take(grounded)
        return grounded

    async def start_over(
        self, turn: phases.UnderstoodTurn, patient_id: PatientId | None
    ) -> phases.GroundedTurn:
        """Begin a new history in the place of a damaged one, whose copy stays beside it."""
        await self.access.record(turn, patient_id, action="start_new_history")
        await turn.claim.name_patient(patient_id)
        return turn.ground(
            await self.contexts.start_over(turn.conversation_id, patient_id, epoch=turn.claim.epoch)
        )

    async def save(self, turn: phases.GroundedTurn) -> None:
        """Store the document as it is now, in the middle of the turn."""
        rules = self.memory.rules.rotation
        storable = await make_storable(self.contexts, turn.document, turn.row, rules=rules)
        await self._write(turn, storable)

    async def _write(self, turn: phases.GroundedTurn, context: ChatContext) -> None:
        await turn.claim.hold()
        left = await self.personal.keep(context, principal_id=_sender(turn))
        new_etag = await _write_held(
            turn.claim,
            partial(self.contexts.write, left),
            etag=turn.record.etag,
            etag_of=partial(self.contexts.etag_of, turn.conversation_id, context.patient_id),
        )
        turn.record.save(new_etag)

    async def commit(self, answered: phases.AnsweredTurn) -> phases.StoredTurn:
        """Store the finished turn: in its patient's document, or with the session if it has none.

        Raises:
            StoreError: it could not be stored; the claim still names the message.
        """
        if isinstance(answered.failure, errors.ClaimLostError):
            raise answered.failure
        is_kept = not answered.turn.record.leaves_no_turn
        turn = await self._grounded(answered) if is_kept else None
        if turn is not None:
            await self._store(turn, answered.failure)
        return stored_turn(answered, turn, at=self.clock.now())

    async def _store(self, turn: phases.GroundedTurn, failure: errors.RoundsError | None) -> None:
        code = failure.code if failure is not None else None
        advance(turn.row, _status(turn, failure), error_code=code)
        await turn.claim.hold()
        close_tool_memory(turn)
        receipt = self.access.receipt(turn, failure)
        # What was shown as a view is whole in that.
        session, shown = turn.sessions.tool_memory, {view.view_id for view in turn.record.views}
        outputs = (
            [one for one in session.long_outputs if one.call_id not in shown] if session else []
        )
        if outputs or turn.record.views or receipt:
            await self.contexts.save_runs(
                turn.document, turn.row.turn_id, outputs, views=turn.record.views, receipt=receipt
            )
        self.memory.keep(turn)
        rules = self.memory.rules.rotation
        await make_room(self.contexts, turn.document, rules=rules)
        self.memory.check(turn)
        await self._write(turn, turn.document)
        self.access.record_receipt(turn, receipt)
        if failure is None:
            await self.looks.note(turn)

    async def _grounded(self, answered: phases.AnsweredTurn) -> phases.GroundedTurn | None:
        """Return the turn in a document: of one that had reached none, in the session's."""
        turn, failure = answered.turn, answered.failure
        if isinstance(turn, phases.GroundedTurn):
            return turn
        if isinstance(failure, errors.StoreUnavailableError | errors.AuditUnavailableError):
            raise failure
        try:
            session = await self.contexts.read(turn.conversation_id, None, epoch=turn.claim.epoch)
            await self.personal.open(session.document, principal_id=_sender(turn))
        except errors.CorruptDocumentError:
            if not isinstance(failure, errors.CorruptDocumentError):
                raise
            # The message is refused, and the sender told: nothing may be written here.
            return None
        if not isinstance(turn, phases.LoadedTurn):
            empty = Registry(conversation_id=turn.conversation_id, epoch=turn.claim.epoch)
            turn = turn.load(Stored(empty, None))
        return (turn if isinstance(turn, phases.UnderstoodTurn) else turn.stay()).ground(session)


async def _write_held(
    claim: Claim,
    write: Callable[..., Awaitable[str]],
    *,
    etag: str | None,
    etag_of: Callable[[], Awaitable[str | None]],
) -> str:
    """Write under the claim and return the new version.

    A conflict is our own earlier write that landed late, or a takeover: after the version was
    read, only a claim that is still ours may write over it.
    """
    await claim.hold()
    try:
        return await write(etag=etag)
    except (errors.BlobChangedError, errors.BlobExistsError):
        etag = await etag_of()
        await claim.confirm()
    try:
        return await write(etag=etag)
    except (errors.BlobChangedError, errors.BlobExistsError) as error:
        raise errors.ClaimLostError("the document was taken over") from error


def _sender(turn: phases.ClaimedTurn) -> str:
    return turn.message.sender.principal_id


def _status(turn: phases.GroundedTurn, failure: errors.RoundsError | None) -> TurnStatus:
    if failure is not None:
        return "FAILED"
    return "STOPPED" if turn.record.outcome == "cancelled" else "COMPLETED"
