"""Grants are kept, end, and are reviewed by somebody else, once."""

import pytest

from data_models.errors import BadFrameError, ChartClosedError, NotFoundError, StoreUnavailableError
from data_models.identifiers import PatientId
from services.audit.trail import NoAudit, Visitor
from services.chart_access.break_glass import BreakGlass, reason_in
from services.chart_access.chart_guard import ChartGuard
from tests.fakes import ClosedCharts, CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.faults import Down, FaultyBlobStore

P4, P7 = PatientId("patient_4"), PatientId("patient_7")
WHY = "unconscious in the emergency room"


def glass_of(store: MemoryBlobStore, clock: FixedClock, minutes: int = 30) -> BreakGlass:
    return BreakGlass(store=store, clock=clock, ids=CountingIds(), minutes=minutes)


async def test_a_grant_holds_on_every_replica_for_one_user_and_one_chart_and_ends() -> None:
    store, clock = MemoryBlobStore(), FixedClock()
    await glass_of(store, clock).grant("ada", P4, conversation_id="c", reason=WHY)

    elsewhere = glass_of(store, clock)
    assert (await elsewhere.current("ada", P4)) is not None
    assert await elsewhere.current("ben", P4) is None
    assert await elsewhere.current("ada", P7) is None
    clock.advance(30 * 60)
    assert await elsewhere.current("ada", P4) is None


async def test_a_review_is_made_once_and_by_another() -> None:
    store, clock = MemoryBlobStore(), FixedClock()
    glass = glass_of(store, clock)
    grant = await glass.grant("ada", P4, conversation_id="c", reason=WHY)

    with pytest.raises(BadFrameError):
        await glass.review(grant.grant_id, by="ada", is_justified=True)
    with pytest.raises(NotFoundError):
        await glass.review("grant_x", by="ben", is_justified=True)
    done = await glass.review(grant.grant_id, by="ben", is_justified=False, note="ask her")
    assert done.review is not None
    assert (done.review.by, done.review.is_justified) == ("ben", False)
    with pytest.raises(BadFrameError):
        await glass.review(grant.grant_id, by="cem", is_justified=True)


async def test_one_damaged_grant_takes_no_other_with_it() -> None:
    store, clock = MemoryBlobStore(), FixedClock()
    glass = glass_of(store, clock)
    await glass.grant("ada", P4, conversation_id="c", reason=WHY)
    await store.create("break-glass/x/patient_4/torn.json", b"{")

    assert len(await glass.all()) == 1


async def test_where_it_is_off_or_beyond_a_keys_range_nothing_opens() -> None:
    store, clock = MemoryBlobStore(), FixedClock()
    for minutes, is_in_range in ((0, True), (30, False)):
        guard = ChartGuard(
            policy=ClosedCharts(P4),
            audit=NoAudit(),
            clock=clock,
            glass=glass_of(store, clock, minutes),
            is_in_range=lambda *_, answer=is_in_range: answer,
        )
        with pytest.raises(ChartClosedError):
            await guard.break_glass(Visitor("ada", "c"), P4, reason=WHY)
        assert not (await guard.access("ada", P4)).may_break_glass


async def test_a_store_that_is_down_opens_nothing() -> None:
    store = FaultyBlobStore(MemoryBlobStore(), always=Down())
    glass = BreakGlass(store=store, clock=FixedClock(), ids=CountingIds(), minutes=30)
    guard = ChartGuard(policy=ClosedCharts(P4), audit=NoAudit(), clock=FixedClock(), glass=glass)
    assert (await guard.access("ada", P4)).state == "closed"
    with pytest.raises(StoreUnavailableError):
        await guard.break_glass(Visitor("ada", "c"), P4, reason=WHY)


def test_the_reason_follows_the_command_and_is_one_line() -> None:
    assert reason_in("Break  Glass:  bleeding\n in theatre") == "bleeding in theatre"
    assert reason_in("please break glass: bleeding") is None
    assert len(reason_in("break glass: " + "x " * 5_000) or "") <= 500
