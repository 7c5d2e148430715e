"""Limits for each caller, the allow-list, and which pages may call."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import (
    ForbiddenError,
    RateLimitedError,
    RoundsError,
    TooManySocketsError,
    UnauthenticatedError,
)
from services.access.limits import MessageRate, OriginPolicy, SocketSlots
from services.access.principal import AllowList, Handshake
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


DEV = OriginPolicy(allowed=["http://localhost:5173"], public_host=None, loopback_only=True)
PUBLIC = OriginPolicy(allowed=[], public_host="Rounds.example", loopback_only=False)
ANY_NAME = OriginPolicy(allowed=[], public_host=None, loopback_only=False)


def shown(host: str, origin: str | None, **more: Any) -> Handshake:
    return Handshake(peer="127.0.0.1", host=host, origin=origin, **more)


@pytest.mark.parametrize(
    ("policy", "host", "origin"),
    [
        (DEV, "localhost:3978", "http://localhost:3978"),
        (DEV, "127.0.0.1:3978", "http://127.0.0.1:3978"),
        (DEV, "[::1]:3978", "http://[::1]:3978"),
        (DEV, "localhost:3978", "http://localhost:5173"),
        (PUBLIC, "rounds.example", "https://rounds.example"),
        (ANY_NAME, "rounds.example:8443", "https://Rounds.example:8443"),
    ],
)
def test_own_and_allowed_origins_pass(policy: OriginPolicy, host: str, origin: str) -> None:
    policy.check(shown(host, origin))


@pytest.mark.parametrize(
    ("policy", "host", "origin"),
    [
        (DEV, "localhost:3978", "http://localhost:3978.evil"),
        (DEV, "localhost:3978", "http://localhost:3978@evil"),
        (DEV, "localhost:3978", "http://localhost:39780"),
        (DEV, "localhost:3978", "http://localhost"),
        (DEV, "localhost:3978", "http://evil/http://localhost:3978"),
        (DEV, "localhost:3978", "ws://localhost:3978"),
        (DEV, "localhost:3978", "null"),
        (DEV, "localhost:3978", ""),
        (DEV, "localhost:3978", "http://localhost:3978,http://localhost:3978"),
        (DEV, "localhost:3978", "http://127.0.0.1:3978"),
        (PUBLIC, "rounds.example", "https://evil.example"),
        (PUBLIC, "rounds.example", "https://rounds.example.evil"),
        (PUBLIC, "rounds.example", "https://xrounds.example"),
    ],
)
def test_foreign_and_look_alike_origins_are_forbidden(
    policy: OriginPolicy, host: str, origin: str
) -> None:
    with pytest.raises(ForbiddenError):
        policy.check(shown(host, origin, authorization="Bearer good"))


@pytest.mark.parametrize(
    ("policy", "host"),
    [
        (DEV, "evil.example:3978"),
        (DEV, "localhost.evil.example"),
        (DEV, "127.0.0.1.evil.example"),
        (DEV, "10.0.0.1:3978"),
        (DEV, ""),
        (DEV, "localhost:3978,evil"),
        (PUBLIC, "other.example"),
        (PUBLIC, "rounds.example:8080"),
    ],
)
def test_a_name_not_ours_is_forbidden_to_its_own_pages(policy: OriginPolicy, host: str) -> None:
    with pytest.raises(ForbiddenError):
        policy.check(shown(host, f"http://{host}"))


def test_without_an_origin_a_token_is_needed_but_in_dev() -> None:
    DEV.check(shown("localhost:3978", None))
    PUBLIC.check(shown("rounds.example", None, authorization="Bearer key"))
    with pytest.raises(UnauthenticatedError):
        PUBLIC.check(shown("rounds.example", None, client_principal="e30="))


def test_a_browsers_own_reads_need_no_origin() -> None:
    PUBLIC.check(shown("rounds.example", None, fetch_site="same-origin", only_reads=True))
    with pytest.raises(UnauthenticatedError):
        PUBLIC.check(shown("rounds.example", None, fetch_site="same-origin"))


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Same-Origin", ""])
def test_an_image_on_a_foreign_page_is_forbidden_in_dev_too(site: str) -> None:
    with pytest.raises(ForbiddenError):
        DEV.check(shown("localhost:3978", None, fetch_site=site, only_reads=True))


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_passes_in_dev_unless_it_names_this_machine(host: str, origin: str) -> None:
    try:
        DEV.check(shown(host, origin))
    except RoundsError:
        return
    assert host.lower().startswith(("localhost", "127.", "[::1]"))
