"""The stand-ins obey the contracts they stand in for."""

from datetime import UTC

import pytest

from data_models.clock import Clock, IdSource, RandomIds, SystemClock
from tests.fakes import CountingIds, FixedClock


@pytest.mark.parametrize("clock", [SystemClock(), FixedClock()], ids=["real", "fake"])
def test_a_clock_is_aware_in_utc_and_never_goes_back(clock: Clock) -> None:
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()


def test_the_fake_clock_moves_both_its_times_by_hand_only() -> None:
    clock = FixedClock()
    now, monotonic = clock.now(), clock.monotonic()
    assert clock.now() == now
    clock.advance(1.5)
    assert (clock.now() - now).total_seconds() == clock.monotonic() - monotonic == 1.5
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)


@pytest.mark.parametrize("ids", [RandomIds(), CountingIds()], ids=["real", "fake"])
def test_ids_are_unique_and_wear_their_prefix(ids: IdSource) -> None:
    made = [ids.new_id("run") for _ in range(100)]
    assert len(set(made)) == 100
    assert all(one.startswith("run_") and len(one) >= len("run_") + 21 for one in made)


def test_the_fake_ids_are_the_same_in_every_run() -> None:
    assert CountingIds().new_id("run") == CountingIds().new_id("run")
