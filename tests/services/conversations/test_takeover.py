"""A turn that died leaves its words where they belong, and cannot write any more."""

import asyncio
from datetime import timedelta

import pytest

from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.turn_events import Notice, RunFailed
from data_models.errors import ClaimLostError, CorruptDocumentError, StoreError
from data_models.identifiers import PatientId
from tests.durability.evidence import Evidence
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, FarReplica, World, heard
from tests.tables import with_cases

TIMES = ClaimTimes(renew_every=timedelta(hours=1))


class Two:
    """A replica that stands still in the middle of a turn, and one that goes on."""

    def __init__(self) -> None:
        self.store, self.users, self.clock = MemoryBlobStore(), MemoryBlobStore(), FixedClock()
        self.paused, self.other = self._replica(), self._replica()

    def _replica(self) -> World:
        return World(
            sessions=self.store,
            users=self.users,
            clock=self.clock,
            times=TIMES,
            replica=FarReplica(),
        )

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.store.contents, CHAT)


@pytest.fixture
async def two() -> Two:
    two = Two()
    await two.paused.say("start a tumor board for patient_4, please")
    await two.paused.scheduler.idle()
    return two


@pytest.mark.slow
@with_cases("text", "kept_with")
async def test_a_process_that_wakes_after_its_lease_writes_nothing(
    two: Two, text: str, kept_with: str | None
) -> None:
    run = await two.paused.hold(text)
    await two.paused.scheduler.submit(two.paused.message("waits behind it"))
    two.clock.advance(36)
    told = await two.other.say("go on")
    await two.other.scheduler.idle()
    before = two.store.contents

    two.paused.team.gate.set()
    ended = (await heard(run)).end

    assert isinstance(ended, RunFailed)
    assert ended.code == "claim_lost"
    await two.paused.scheduler.idle()
    assert two.store.contents == before
    assert told.texts == ["Heard: go on"]
    (found,) = two.evidence.saying(text)
    assert (found.patient_id, found.turn.turn_status) == (kept_with, "FAILED")
    assert len(two.evidence.saying("waits behind it")) == 1


@pytest.mark.slow
async def test_a_claim_within_its_lease_is_not_taken_over(two: Two) -> None:
    run = await two.paused.hold("still at work")
    two.clock.advance(34)
    behind = await two.other.submit("behind it")
    two.paused.team.gate.set()
    assert (await heard(run)).texts == ["Heard: still at work"]
    assert (await heard(behind)).texts == ["Heard: behind it"]


async def test_a_switch_that_was_named_and_not_made_stays_with_the_session(two: Two) -> None:
    """Nobody could read it in the chart of a patient who is not in the roster."""
    claimant = two.paused.claimant
    message = two.paused.message("switch to patient_15")
    claim = await claimant.claim(await claimant.look(message, fresh=True), message, "run_dead")
    assert claim is not None
    await claim.name_patient(PatientId("patient_15"))
    registry = await two.paused.registries.read(CHAT, epoch=0, fresh=True)
    two.clock.advance(36)
    await two.other.say("go on")
    await two.other.scheduler.idle()
    (found,) = two.evidence.saying("switch to patient_15")
    assert found.patient_id is None
    assert list(two.evidence.registry.patient_registry) == ["patient_4"]
    with pytest.raises(StoreError):  # the old holder's registry is fenced, too
        await two.paused.registries.write(registry.document, etag=registry.etag)
    with pytest.raises(ClaimLostError):
        await claim.hold()


async def test_a_dead_turn_whose_chart_is_damaged_does_not_block_the_others(two: Two) -> None:
    await two.paused.hold("switch to patient_15 and tell me the stage")
    name = f"{CHAT}/patient_patient_15_context.json"
    await two.store.create(name, b"{")
    two.clock.advance(36)
    told = await two.other.say("switch to patient_4 and go on")
    await two.other.scheduler.idle()
    assert told.texts == ["Heard: switch to patient_4 and go on"]
    assert two.store.contents[name] == b"{"
    with pytest.raises(CorruptDocumentError):
        _ = two.evidence
    await two.store.delete(name)
    assert [each.patient_id for each in two.evidence.saying("tell me the stage")] == [None]


async def test_the_interruption_is_told_once(two: Two) -> None:
    await two.paused.hold("dies")
    two.clock.advance(36)
    told = [await two.other.say(text) for text in ("one", "two")]
    notices = [[e.kind for e in each.events if isinstance(e, Notice)] for each in told]
    assert [each.count("interrupted") for each in notices] == [1, 0]


@pytest.mark.slow
async def test_of_two_who_would_take_over_at_once_one_does(two: Two) -> None:
    await two.paused.hold("switch to patient_15 and tell me the stage")
    await asyncio.sleep(0.01)  # until it stands still
    two.clock.advance(36)
    third = two._replica()
    told = await asyncio.gather(two.other.say("one"), third.say("other"))
    assert [each.texts for each in told] == [["Heard: one"], ["Heard: other"]]
    await two.other.scheduler.idle()
    await third.scheduler.idle()
    fences = {str(each.patient_id): each.fence for each in two.evidence.contexts()}
    assert fences["patient_15"] >= 1  # one of them may have to begin again
    assert len(two.evidence.saying("tell me the stage")) == 1


async def test_what_is_left_of_a_finished_queue_is_swept(two: Two) -> None:
    await two.paused.hold("runs")
    await two.paused.submit("waits")
    left = two.store.contents[f"{CHAT}/inbox/0.json"]
    two.paused.team.gate.set()
    await two.paused.scheduler.idle()
    await two.store.create(f"{CHAT}/inbox/0.json", left)  # as if it had died before deleting it
    await two.paused.hold("dies")
    two.clock.advance(36)
    await two.other.say("go on")
    await two.other.scheduler.idle()
    assert [name for name in two.store.contents if "/inbox/" in name] == []
    assert len(two.evidence.saying("waits")) == 1


async def test_the_question_of_before_ends_with_the_turn_that_was_to_answer(two: Two) -> None:
    await two.paused.say("please clear all patients")
    await two.paused.scheduler.idle()
    assert two.evidence.conversation.open_question is not None
    await two.paused.hold("no, what was the stage?")
    two.clock.advance(36)
    behind = two.other.message("yes")
    await heard(await two.other.scheduler.submit(behind))
    await two.other.scheduler.idle()
    assert two.evidence.conversation.epoch == 0
