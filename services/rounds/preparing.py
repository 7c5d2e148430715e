"""Prepares the patients of lists in the background, several side by side, each by itself.

A patient's preparation is a turn of a conversation of its own, so all that guards turns guards it:
the claim by conditional write, the takeover from a dead replica, one answer for one message. Which
replica sees to a list is written into the list, by the same rules as a claim.
"""

import asyncio
from dataclasses import dataclass

import structlog

from data_models import errors
from data_models.conversations.claim import lease_end
from data_models.conversations.claim_decision import ATTEMPTS_LIMIT, ClaimTimes, Lease, claim_state
from data_models.conversations.incoming_message import ROUNDS, WEB, IncomingMessage, Sender
from data_models.conversations.turn_events import RunFailed
from services.basis import Replica
from services.language.words.talk_texts import talk_text
from services.records.big_charts import make_view
from services.records.fhir.reading import reading_as
from services.records.resources.ports import PatientRecords
from services.rounds.round_list import RoundEntry, RoundList, RoundPatient, again, prepared
from services.rounds.round_view import card_parts
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import ConversationReader, OwnedChat

POLL_SECONDS = 15.0
_log = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class RoundPreparer:
    """One per replica. Goes on with lists whose replica died.

    Attributes:
        parallel: How many patients are prepared side by side in this process.
    """

    scheduler: TurnScheduler
    reader: ConversationReader
    records: PatientRecords
    entry: RoundEntry
    replica: Replica
    parallel: int
    times: ClaimTimes
    poll_seconds: float = POLL_SECONDS

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.parallel)
        self._lists: dict[str, asyncio.Task[None]] = {}
        self._looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look for lists that are not prepared."""
        self._looking = asyncio.create_task(self._look())

    def prepare(self, round_id: str) -> None:
        """Prepare a list of the book in the background, unless that goes on here already."""
        if round_id in self._lists:
            return
        task = asyncio.create_task(self._prepare(round_id))
        self._lists[round_id] = task
        task.add_done_callback(lambda _: self._lists.pop(round_id, None))

    async def idle(self) -> None:
        """Return once nothing is prepared here."""
        while self._lists:
            await asyncio.wait(list(self._lists.values()))

    async def rest(self) -> None:
        """Prepare nothing more; what is not ready goes on elsewhere, or at the next start."""
        tasks = [*self._lists.values(), *([self._looking] if self._looking else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        while True:
            try:
                for round_id in await self.entry.book.list_unprepared():
                    self.prepare(round_id)
            except errors.StoreError as error:
                _log.warning("rounds_unread", code=error.code)
            await asyncio.sleep(self.poll_seconds)

    async def _prepare(self, round_id: str) -> None:
        try:
            while (found := await self.entry.book.change(round_id, self._held)) is not None:
                if not found.waiting:
                    await self.entry.book.note_done(round_id)
                    return
                if not await self._all(found):
                    return  # `_look` comes back to it
        except errors.NoSuchListError:
            await self.entry.book.note_done(round_id)
        except errors.StoreError as error:
            _log.warning("round_not_prepared", code=error.code, round=round_id)

    def _held(self, found: RoundList) -> RoundList | None:
        """Return the list in our name; None if another replica prepares it."""
        hold, now = found.hold, self.reader.clock.now()
        is_ours = hold is not None and hold.replica == self.replica.name
        state = claim_state(hold, now=now, times=self.times, is_dead=self.replica.is_dead)
        if state == "held" and not is_ours:
            return None
        ours = Lease(replica=self.replica.name, expires_at=lease_end(now, self.times))
        return found.model_copy(update={"hold": ours if found.waiting else None})

    async def _all(self, found: RoundList) -> bool:
        """Prepare who waits, the list in our name meanwhile; whether each came to an end here."""
        keeping = asyncio.create_task(self._keep(found.round_id))
        tasks = {asyncio.create_task(self._one(found, one)): one for one in found.waiting}
        try:
            await asyncio.wait(tasks)
        finally:
            keeping.cancel()
            for task in tasks:
                task.cancel()
        for task, patient in tasks.items():
            if not task.cancelled() and (error := task.exception()) is not None:
                # What no part foresaw is one patient's, and on their card.
                _log.error("round_patient_broken", error=type(error).__name__)
                await self._note(
                    found, patient, prepared(patient, "failed", errors.RoundsError.code)
                )
        return all(task.cancelled() or task.exception() or task.result() for task in tasks)

    async def _keep(self, round_id: str) -> None:
        while True:
            await asyncio.sleep(self.times.renew_every.total_seconds())
            try:
                await self.entry.book.change(round_id, self._held)
            except errors.StoreError as error:
                _log.warning("round_not_kept", code=error.code, round=round_id)

    async def _one(self, found: RoundList, patient: RoundPatient) -> bool:
        try:
            async with self._free:
                now = await self.entry.book.read(found.round_id)
                if now.patient(patient.patient_id) is None:
                    return True  # forgotten since
                after = await self._prepare_one(found, patient)
            if after is not None:
                await self._note(found, patient, after)
        except errors.StoreError as error:
            _log.warning("round_not_noted", code=error.code, round=found.round_id)
            return False
        return after is not None

    async def _note(self, found: RoundList, before: RoundPatient, after: RoundPatient) -> None:
        await self.entry.book.change(found.round_id, lambda now: _noted(now, before, after))

    async def _prepare_one(self, found: RoundList, patient: RoundPatient) -> RoundPatient | None:
        """Return the patient as prepared, or as failed; None: it goes on elsewhere or later."""
        try:
            return await self._prepare_patient(found, patient)
        except errors.ChartClosedError as error:
            return prepared(patient, "closed", error.code)
        except errors.ServerStoppingError:
            return None
        except errors.RoundsError as error:
            _log.warning("round_patient_failed", code=error.code, round=found.round_id)
            return prepared(patient, "failed", error.code)

    async def _prepare_patient(
        self, found: RoundList, patient: RoundPatient
    ) -> RoundPatient | None:
        owner = found.owner
        await self.entry.enter(patient, owner, "prepare_round")
        await self._count(owner)
        with reading_as(owner):
            record = await self.records.load(patient.patient_id)
        now = self.reader.clock.now()
        # A chart whose card cannot be made says so now, not at the bedside.
        await make_view(
            record, lambda one: card_parts(one, now=now, before=None, keeps_looks=False)
        )
        # The patient's own conversation answers.
        message = self._message(found, patient)
        left = await self.scheduler.go_on(message)  # what a dead replica had begun
        if left is not None:
            await left.wait()
        run = await self.scheduler.submit(message)
        await run.wait()
        last = run.past()[-1]
        if isinstance(last, RunFailed):
            return _after_failure(patient, last.code)
        try:
            chat = OwnedChat(patient.conversation_id, owner, patient.patient_id)
            page = await self.reader.messages(chat, limit=1)
        except errors.NotFoundError:
            return prepared(patient, "failed", "unlinked")
        if not (page.turns and page.turns[-1].agent_responses):
            return prepared(patient, "failed", "no_answer")
        return prepared(patient, "ready").model_copy(update={"run_id": run.run_id})

    async def _count(self, owner: str) -> None:
        """Count a read of the owner's, once they may read more."""
        while True:
            try:
                self.entry.guard.count_opening(owner)
            except errors.RateLimitedError as error:
                await asyncio.sleep(error.retry_after_seconds)
            else:
                return

    def _message(self, found: RoundList, patient: RoundPatient) -> IncomingMessage:
        text = talk_text(found.language, "round_question", patient=patient.patient_id)
        return IncomingMessage(
            conversation_id=patient.conversation_id,
            channel=WEB,
            channel_id=ROUNDS,
            owner=found.owner,
            sender=Sender(principal_id=found.owner),
            message_id=f"{found.round_id}-{patient.attempt}",
            text=text,
            received_at=self.reader.clock.now(),
        )


def _after_failure(patient: RoundPatient, code: str) -> RoundPatient | None:
    """Return the patient whose turn failed; one that was only interrupted is asked for again."""
    if code == errors.ServerStoppingError.code:
        return None
    if code == errors.InterruptedTurnError.code and patient.attempt < ATTEMPTS_LIMIT:
        return again(patient)
    return prepared(patient, "failed", code)


def _noted(now: RoundList, before: RoundPatient, after: RoundPatient) -> RoundList | None:
    """Return the list with what became of a patient, unless they were asked for anew since."""
    row = now.patient(before.patient_id)
    if row is None or row.attempt != before.attempt or row.state != "waiting":
        return None
    came = after.model_dump(include={"state", "problem", "attempt", "run_id"})
    return now.with_patient(row.model_copy(update=came))
