"""The authenticators that need no directory."""

import hashlib
import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from data_models.errors import ForbiddenError, UnauthenticatedError
from services.access.authenticators import (
    ApiKeyAuthenticator,
    AppServiceAuthenticator,
    DevAuthenticator,
)
from services.access.principal import Handshake, Principal, UserRules, log_off_at, user_id
from tests.fakes import FixedClock

TENANT = "11111111-2222-3333-4444-555555555555"
USER = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
SCHEMA = "http://schemas.microsoft.com/identity/claims/"


def shown(**changes: Any) -> Handshake:
    return Handshake(**{"peer": "127.0.0.1", "host": "localhost:3978"} | changes)


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
async def test_dev_takes_loopback_callers(peer: str) -> None:
    principal = await DevAuthenticator(operators=()).authenticate(shown(peer=peer))
    assert (principal.id, principal.is_operator) == ("dev", True)


@pytest.mark.parametrize("peer", ["10.0.0.1", "192.168.1.2", "::ffff:10.0.0.1", "", None, "unix"])
async def test_dev_refuses_every_other_caller(peer: str | None) -> None:
    with pytest.raises(ForbiddenError):
        await DevAuthenticator(operators=()).authenticate(shown(peer=peer))


async def test_dev_refuses_what_a_proxy_passes_on() -> None:
    with pytest.raises(ForbiddenError):
        await DevAuthenticator(operators=()).authenticate(shown(forwarded=True))


async def test_dev_is_no_operator_when_others_are_named() -> None:
    principal = await DevAuthenticator(operators=["alice"]).authenticate(shown())
    assert not principal.is_operator


@pytest.fixture
def api_keys() -> ApiKeyAuthenticator:
    keys = [("alice", "key-a"), ("bob", "key-b"), ("alice", "key-new")]
    hashes = [(name, hashlib.sha256(key.encode()).hexdigest()) for name, key in keys]
    return ApiKeyAuthenticator(keys=hashes, operators=["Alice"])


@pytest.mark.parametrize(
    ("key", "name", "operator"),
    [("key-a", "alice", True), ("key-new", "alice", True), ("key-b", "bob", False)],
)
async def test_a_key_names_its_client(
    api_keys: ApiKeyAuthenticator, key: str, name: str, *, operator: bool
) -> None:
    principal = await api_keys.authenticate(shown(authorization=f"bearer {key}"))
    assert (principal.id, principal.is_operator) == (f"key:{name}", operator)


async def test_a_browser_shows_its_key_as_a_subprotocol(api_keys: ApiKeyAuthenticator) -> None:
    principal = await api_keys.authenticate(shown(protocols=("rounds", "bearer.key-b")))
    assert principal.name == "bob"


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic key-a",
        "key-a",
        "Bearer \udcff",
        f"Bearer {'x' * 20_000}",
        f"Bearer {hashlib.sha256(b'key-a').hexdigest()}",
    ],
)
async def test_anything_but_a_key_is_refused(
    api_keys: ApiKeyAuthenticator, authorization: str | None
) -> None:
    with pytest.raises(UnauthenticatedError):
        await api_keys.authenticate(shown(authorization=authorization))


async def test_no_token_is_not_the_empty_key() -> None:
    empty = [("nobody", hashlib.sha256(b"").hexdigest())]
    with pytest.raises(UnauthenticatedError):
        await ApiKeyAuthenticator(keys=empty, operators=()).authenticate(shown())


def header(claims: dict[str, str]) -> str:
    rows = [{"typ": name, "val": value} for name, value in claims.items()]
    return b64encode(json.dumps({"auth_typ": "aad", "claims": rows}).encode()).decode()


GOOD = {f"{SCHEMA}objectidentifier": USER, f"{SCHEMA}tenantid": TENANT, "name": "Ada"}


def app_service(tenants: tuple[str, ...] = ()) -> AppServiceAuthenticator:
    return AppServiceAuthenticator(tenants=tenants, users=UserRules(), clock=FixedClock())


async def test_the_proxys_header_names_the_user_as_a_token_would() -> None:
    principal = await app_service().authenticate(shown(client_principal=header(GOOD)))
    assert principal.id == user_id(TENANT.upper(), USER.upper())
    assert (principal.name, principal.expires_at) == ("Ada", None)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "%%%",
        "e30=",
        b64encode(b"[]").decode(),
        b64encode(b"\xff").decode(),
        header({}),
        header({"oid": USER}),
        header({"tid": TENANT, "oid": ""}),
        header(GOOD | {"exp": "12"}),
        header(GOOD | {"exp": "soon"}),
        header(GOOD | {"exp": "9" * 40}),
    ],
)
async def test_an_unusable_header_is_refused_without_a_trace(value: str | None) -> None:
    with pytest.raises(UnauthenticatedError) as caught:
        await app_service().authenticate(shown(client_principal=value))
    assert caught.value.__cause__ is None


async def test_a_directory_that_is_not_listed_is_forbidden() -> None:
    with pytest.raises(ForbiddenError):
        await app_service(("other",)).authenticate(shown(client_principal=header(GOOD)))


def test_a_socket_is_logged_off_at_expiry_or_after_idle_time() -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    endless = Principal(id="key:a", name="a", kind="api_key")
    ending = Principal(id="x", name="x", kind="entra", expires_at=now + timedelta(seconds=5))
    dev = Principal(id="dev", name="dev", kind="dev")
    assert log_off_at(endless, active_at=now, idle_seconds=900) == now + timedelta(seconds=900)
    assert log_off_at(ending, active_at=now, idle_seconds=900) == ending.expires_at
    assert log_off_at(dev, active_at=now, idle_seconds=900).year == 9999


def test_a_handshake_shows_no_token() -> None:
    assert "secret" not in repr(shown(authorization="Bearer secret", client_principal="secret"))
