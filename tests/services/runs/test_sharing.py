"""Who was taken for dead writes nothing down any more of a run that others watched."""

import asyncio

import pytest

from data_models.errors import ClaimLostError
from data_models.turn_events import AgentTextDelta, RunFailed, RunFinished, TurnTiming
from services.run_journal.journal import PART_BYTES
from services.run_journal.pace import Pace
from services.run_journal.replica_signals import ReplicaSignal, ReplicaSignals
from services.runs.hub import Run
from services.runs.run_exchange import SharedRuns
from tests.data_models.test_claim import Scheduler
from tests.fakes_store import MemoryBlobStore
from tests.services.runs.test_elsewhere import until

PACE = Pace(tick=0.01, young=0.0, signal=0.0, batch=0.02, kept=5.0)
LONG_SECONDS = 3_600.0


class Sharing:
    """A replica whose run is written down for others."""

    def __init__(self) -> None:
        self.scheduler, self.store = Scheduler(), MemoryBlobStore()
        self.signals = ReplicaSignals(store=MemoryBlobStore())
        self.shared = SharedRuns(
            store=self.store,
            signals=self.signals,
            replica="here",
            clock=self.scheduler.clock,
            pace=PACE,
        )

    @property
    def journals(self) -> list[str]:
        return [name for name in self.store.contents if "/watched/" in name]

    async def say(self, run: Run, text: str) -> None:
        """Emit `text`, and return once it is written down."""
        run.emit(AgentTextDelta("m1", text))
        await until(lambda: any(text.encode() in data for data in self.store.contents.values()))

    async def stand_still(self) -> None:
        """Let another replica clear the conversation meanwhile; nothing here goes on till then."""
        for name in self.journals:
            await self.store.delete(name)
        self.scheduler.clock.advance(LONG_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("end", [None, RunFailed("claim_lost", "", "")])
async def test_a_replica_that_wakes_after_a_clear_begins_no_part_anew(
    end: RunFailed | None,
) -> None:
    sharing = Sharing()
    claim = await sharing.scheduler.claim()
    run = Run(run_id=claim.run_id, message=claim.message)
    await sharing.signals.send("here", ReplicaSignal(run_id=run.run_id, what="show"))
    with sharing.shared.offered(run, claim):
        await sharing.say(run, "x" * PART_BYTES)
        await sharing.scheduler.take_over()
        await sharing.stand_still()
        run.emit(AgentTextDelta("m1", "CANARY"))
        if end is not None:
            with pytest.raises(ClaimLostError):
                await claim.hold()
            run.emit(end)
        await asyncio.sleep(0.3)  # far longer than until it would be written
        assert sharing.journals == []
    await sharing.shared.close()


@pytest.mark.slow
async def test_one_that_stood_still_behind_its_last_word_does_not_write_it_down() -> None:
    sharing = Sharing()
    claim = await sharing.scheduler.claim()
    run = Run(run_id=claim.run_id, message=claim.message)
    await sharing.signals.send("here", ReplicaSignal(run_id=run.run_id, what="show"))
    with sharing.shared.offered(run, claim):
        await sharing.say(run, "x" * PART_BYTES)
        run.emit(RunFinished("success", TurnTiming()))
        await sharing.stand_still()
    await asyncio.sleep(0.3)
    assert sharing.journals == []
    await sharing.shared.close()


async def test_a_run_that_ends_well_is_written_down_to_its_end_and_its_release_does_no_harm() -> (
    None
):
    sharing = Sharing()
    claim = await sharing.scheduler.claim()
    run = Run(run_id=claim.run_id, message=claim.message)
    await sharing.signals.send("here", ReplicaSignal(run_id=run.run_id, what="show"))
    with sharing.shared.offered(run, claim):
        await sharing.say(run, "Hello.")
        sharing.scheduler.clock.advance(20)  # within its lease
        run.emit(RunFinished("success", TurnTiming()))
        await claim.release(None, change=lambda _: None, successor=None)
    await until(lambda: any(b"RunFinished" in data for data in sharing.store.contents.values()))
    await sharing.shared.close()
    assert sharing.journals == []
