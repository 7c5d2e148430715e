"""Limits for each caller, and the allow-list."""

import pytest

from data_models.errors import RateLimitedError, TooManySocketsError
from services.access.limits import MessageRate, SocketSlots
from services.access.principal import AllowList
from tests.fakes import FixedClock


def spend(rate: MessageRate, principal: str, times: int) -> None:
    for _ in range(times):
        rate.take(principal)


def test_twenty_messages_pass_and_the_next_waits_three_seconds(clock: FixedClock) -> None:
    rate = MessageRate(per_minute=20, clock=clock)
    spend(rate, "a", 20)
    clock.advance(2.9)
    with pytest.raises(RateLimitedError):
        rate.take("a")
    clock.advance(0.1)
    rate.take("a")


def test_a_refused_message_is_not_counted(clock: FixedClock) -> None:
    rate = MessageRate(per_minute=1, clock=clock)
    rate.take("a")
    for _ in range(50):
        clock.advance(1)
        with pytest.raises(RateLimitedError):
            rate.take("a")
    clock.advance(10)
    rate.take("a")


def test_no_limit_is_no_limit(clock: FixedClock) -> None:
    spend(MessageRate(per_minute=None, clock=clock), "a", 1_000)


def test_the_table_forgets_who_was_quiet_longest(clock: FixedClock) -> None:
    rate = MessageRate(per_minute=1, clock=clock, table_limit=2)
    for principal in ("a", "b", "c"):
        rate.take(principal)
    rate.take("a")
    with pytest.raises(RateLimitedError):
        rate.take("c")


def test_who_comes_back_is_remembered_longer(clock: FixedClock) -> None:
    rate = MessageRate(per_minute=2, clock=clock, table_limit=2)
    for principal in ("a", "b", "a", "c"):
        rate.take(principal)
    with pytest.raises(RateLimitedError):
        rate.take("a")


def test_a_caller_holds_so_many_sockets_and_gets_the_place_back() -> None:
    slots = SocketSlots(limit=1)
    with slots.hold("a"):
        with pytest.raises(TooManySocketsError), slots.hold("a"):
            pass
        with slots.hold("b"):
            assert slots.total == 2
    with slots.hold("a"):
        assert slots.total == 1
    assert slots.total == 0


def test_nobody_is_allowed_unless_named() -> None:
    assert not AllowList(names=[]).allows("a")
    assert not AllowList(names=[None, ""]).allows(None)
    assert AllowList(names=["A"]).allows("a")
    assert not AllowList(names=["a"]).allows("ab")


def test_a_written_star_allows_all() -> None:
    assert AllowList(names=["*"]).allows(None)
