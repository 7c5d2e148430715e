"""A claim: one turn at a time, and whoever lost it writes nothing more."""

import asyncio
from datetime import datetime, timedelta

import pytest

from data_models.conversations.claim import Claim, Successor, lease_end, take_claim
from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.conversation import AnsweredMessage, Conversation, RunningTurn
from data_models.conversations.conversation_accessor import ConversationAccessor
from data_models.documents import Documents
from data_models.errors import ClaimLostError, StoreUnavailableError
from data_models.identifiers import PatientId
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore, LostAnswer
from tests.given import message_of, present

TIMES = ClaimTimes(renew_every=timedelta(seconds=0.01))
ANSWERED = AnsweredMessage("hash", "run_1", None, 0, 1, 0)


class Scheduler:
    """Two replicas at one conversation."""

    def __init__(self) -> None:
        self.store = MemoryBlobStore()
        self.clock = FixedClock()
        self.inner = FaultyBlobStore(self.store)
        self.here = self._accessor(self.inner)
        self.there = self._accessor(self.store)

    def _accessor(self, store: MemoryBlobStore | FaultyBlobStore) -> ConversationAccessor:
        documents = Documents(store=store, clock=self.clock, ids=CountingIds())
        return ConversationAccessor(documents=documents)

    def running(self, run_id: str, *, replica: str = "here") -> RunningTurn:
        now = self.clock.now()
        message = message_of(at=now, message_id=run_id)
        return RunningTurn(
            run_id=run_id,
            message=message,
            replica=replica,
            patient_id=None,
            started_at=now,
            expires_at=lease_end(now, TIMES),
        )

    async def claim(self, run_id: str = "run_1") -> Claim:
        now = self.clock.now()
        new = Conversation(
            conversation_id="c", owner="alice", channel="web", created_at=now, updated_at=now
        )
        claim = await take_claim(
            conversations=self.here,
            conversation=new,
            etag=None,
            running=self.running(run_id),
            clock=self.clock,
            times=TIMES,
            was_known=False,
        )
        assert claim is not None
        return claim

    async def stored(self) -> Conversation:
        return present(await self.there.read("c", fresh=True)).document

    async def expires_at(self) -> datetime:
        return present((await self.stored()).running_turn).expires_at

    async def count_in(self) -> None:
        """Another replica queues a message."""
        found = present(await self.there.read("c", fresh=True))
        found.document.inbox_tail += 1
        await self.there.write(found.document, etag=found.etag)

    async def take_over(self) -> None:
        found = present(await self.there.read("c", fresh=True))
        present(found.document.running_turn).replica = "there"
        await self.there.write(found.document, etag=found.etag)


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler()


async def test_of_two_who_claim_one_is_refused(scheduler: Scheduler) -> None:
    await scheduler.claim()
    now = scheduler.clock.now()
    late = await take_claim(
        conversations=scheduler.there,
        conversation=Conversation(
            conversation_id="c", owner="alice", channel="web", created_at=now, updated_at=now
        ),
        etag=None,
        running=scheduler.running("run_2", replica="there"),
        clock=scheduler.clock,
        times=TIMES,
        was_known=False,
    )
    assert late is None
    assert (await scheduler.stored()).running_turn == scheduler.running("run_1")


async def test_a_message_counted_in_meanwhile_is_kept(scheduler: Scheduler) -> None:
    claim = await scheduler.claim()
    await scheduler.count_in()
    await claim.name_patient(PatientId("patient_4"))
    stored = await scheduler.stored()
    assert stored.inbox_tail == 1
    assert stored.running_turn is not None
    assert (stored.running_turn.patient_id, stored.running_turn.decided) == ("patient_4", True)


async def test_who_was_taken_over_can_change_nothing(scheduler: Scheduler) -> None:
    claim = await scheduler.claim()
    await scheduler.take_over()
    before = scheduler.store.contents
    for attempt in (claim.name_patient(None), claim.confirm(), release(claim)):
        with pytest.raises(ClaimLostError):
            await attempt
    assert claim.is_lost
    assert scheduler.store.contents == before


async def release(claim: Claim, successor: Successor | None = None) -> Claim | None:
    return await claim.release(ANSWERED, change=lambda _: None, successor=successor)


async def test_holding_costs_nothing_while_the_lease_runs(scheduler: Scheduler) -> None:
    claim = await scheduler.claim()
    operations = len(scheduler.inner.operations)
    await claim.hold()
    assert len(scheduler.inner.operations) == operations


async def test_a_paused_process_renews_before_it_writes_and_learns_that_it_is_late(
    scheduler: Scheduler,
) -> None:
    claim = await scheduler.claim()
    scheduler.clock.advance(40)
    await claim.hold()
    renewed = present((await scheduler.stored()).running_turn)
    assert renewed.expires_at == scheduler.clock.now() + TIMES.lease
    scheduler.clock.advance(40)
    await scheduler.take_over()
    with pytest.raises(ClaimLostError):
        await claim.hold()


async def test_the_claim_is_renewed_while_a_turn_runs(scheduler: Scheduler) -> None:
    claim = await scheduler.claim()
    async with claim.renewing(lambda: None), asyncio.timeout(60):
        scheduler.clock.advance(20)
        renewed = scheduler.clock.now() + TIMES.lease
        while await scheduler.expires_at() != renewed:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_losing_the_claim_is_told_to_the_turn(scheduler: Scheduler) -> None:
    claim, lost = await scheduler.claim(), asyncio.Event()
    await scheduler.take_over()
    async with claim.renewing(lost.set):
        await asyncio.wait_for(lost.wait(), 60)
    assert claim.is_lost


async def test_an_outage_does_not_end_the_turn_before_its_lease(scheduler: Scheduler) -> None:
    claim, lost = await scheduler.claim(), asyncio.Event()
    scheduler.inner.always = Down()
    async with claim.renewing(lost.set):
        await asyncio.sleep(0.05)
    assert not lost.is_set()


async def test_the_next_message_is_claimed_in_the_write_that_frees(scheduler: Scheduler) -> None:
    claim = await scheduler.claim()
    await scheduler.count_in()
    operations = len(scheduler.inner.operations)
    heir = present(await release(claim, Successor(running=scheduler.running("run_2"), number=0)))
    assert heir.run_id == "run_2"
    stored = await scheduler.stored()
    assert stored.running_turn == scheduler.running("run_2")
    assert (stored.inbox_head, stored.answered) == (1, [ANSWERED])
    writes = [each.kind for each in scheduler.inner.operations[operations:] if each.kind != "read"]
    assert writes == ["replace", "replace"]  # the first met the message counted in
    await heir.confirm()


async def test_a_release_whose_answer_was_lost_is_a_release(scheduler: Scheduler) -> None:
    claim = await scheduler.claim()
    scheduler.inner.always = LostAnswer()
    releasing = release(claim)
    with pytest.raises(StoreUnavailableError):
        await releasing
    scheduler.inner.always = None
    again = release(claim)
    await again
    stored = await scheduler.stored()
    assert (stored.running_turn, stored.answered) == (None, [ANSWERED])


async def test_a_release_that_landed_before_anothers_claim_counts(scheduler: Scheduler) -> None:
    claim = await scheduler.claim()

    async def land_and_let_another_claim() -> None:
        found = present(await scheduler.there.read("c", fresh=True))
        found.document.running_turn = scheduler.running("run_9", replica="there")
        found.document.answered.append(ANSWERED)
        await scheduler.there.write(found.document, etag=found.etag)

    await land_and_let_another_claim()
    assert await release(claim) is None
    assert present((await scheduler.stored()).running_turn).run_id == "run_9"
