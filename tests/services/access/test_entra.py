"""Entra ID tokens: only a good one enters, and bad ones cost no download."""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import ForbiddenError, SignInUnavailableError, UnauthenticatedError
from services.access.authenticators import EntraAuthenticator
from services.access.principal import Handshake, Principal, UserRules
from services.access.signing_keys import ASK_AGAIN_SECONDS, SigningKeys, download_keys, read_form
from tests.fakes import FixedClock
from tests.services.access.directory import AUDIENCE, AUTHORITY, TENANT, USER, Directory

OTHER_TENANT = "99999999-2222-3333-4444-555555555555"


@pytest.fixture
async def directory(clock: FixedClock) -> AsyncIterator[Directory]:
    directory = Directory(now=clock.now())
    async with directory.server:
        yield directory


@pytest.fixture
async def entra(directory: Directory, clock: FixedClock) -> AsyncIterator[EntraAuthenticator]:
    async with aiohttp.ClientSession() as session:
        download = partial(download_keys, session, directory.url)
        yield EntraAuthenticator(
            keys=SigningKeys(download=download, clock=clock),
            authority=AUTHORITY,
            tenants=[TENANT],
            audiences=[AUDIENCE],
            scope="access_as_user",
            users=UserRules(operators=[USER.upper()], orderers=[f"entra:{TENANT}:{USER}"]),
            clock=clock,
        )


async def enter(entra: EntraAuthenticator, token: str) -> Principal:
    shown = Handshake(peer="10.0.0.9", host="rounds.example", authorization=f"Bearer {token}")
    return await entra.authenticate(shown)


async def test_a_good_token_names_the_user(
    entra: EntraAuthenticator, directory: Directory, clock: FixedClock
) -> None:
    principal = await enter(entra, directory.token())
    assert principal.id == f"entra:{TENANT}:{USER}"
    assert (principal.name, principal.tenant, principal.kind) == ("Ada", TENANT, "entra")
    assert principal.roles == {"operator", "order"}
    assert principal.expires_at == clock.now() + timedelta(hours=1)


async def test_an_application_with_the_role_may_call(
    entra: EntraAuthenticator, directory: Directory
) -> None:
    principal = await enter(entra, directory.token(scp=None, roles=["access_as_user"]))
    assert principal.kind == "entra"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"exp": 1_000}, id="expired"),
        pytest.param({"exp": None}, id="without expiry"),
        pytest.param({"exp": "4102444800"}, id="expiry as text"),
        pytest.param({"exp": True}, id="expiry as truth"),
        pytest.param({"exp": 1e300}, id="expiry after the end of time"),
        pytest.param({"nbf": 4_102_444_800}, id="not yet"),
        pytest.param({"aud": "api://other"}, id="for others"),
        pytest.param({"aud": None}, id="for nobody"),
        pytest.param({"iss": "https://login.evil/x/v2.0"}, id="foreign issuer"),
        pytest.param({"iss": f"{AUTHORITY}/{OTHER_TENANT}/v2.0"}, id="issuer of another tenant"),
        pytest.param({"tid": None}, id="without tenant"),
        pytest.param({"oid": None}, id="without user"),
        pytest.param({"oid": ""}, id="with an empty user"),
        pytest.param({"oid": " "}, id="with a blank user"),
        pytest.param({"alg": "HS256"}, id="signed with a shared secret"),
        pytest.param({"header": {"crit": ["b64"]}}, id="demands what we do not know"),
        pytest.param({"header": {"kid": "k" * 201}}, id="an endless key id"),
        pytest.param({"header": {"kid": ""}}, id="an empty key id"),
        pytest.param({"alg": "none"}, id="not signed"),
        pytest.param({"alg": "RS512"}, id="another algorithm"),
    ],
)
async def test_a_plainly_bad_token_is_refused_without_a_download(
    entra: EntraAuthenticator, directory: Directory, changes: dict[str, Any]
) -> None:
    with pytest.raises(UnauthenticatedError):
        await enter(entra, directory.token(**changes))
    assert directory.downloads == 0


@pytest.mark.parametrize("token", ["", "garbage", "a.b.c", "e30.e30.e30", "ä.ö.ü", "x" * 20_000])
async def test_garbage_is_refused_without_a_download(
    entra: EntraAuthenticator, directory: Directory, token: str
) -> None:
    with pytest.raises(UnauthenticatedError):
        await enter(entra, token)
    assert directory.downloads == 0


async def test_a_changed_token_is_refused(entra: EntraAuthenticator, directory: Directory) -> None:
    header, _, signature = directory.token().split(".")
    _, claims, _ = directory.token(oid="bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee").split(".")
    with pytest.raises(UnauthenticatedError) as caught:
        await enter(entra, f"{header}.{claims}.{signature}")
    assert caught.value.__cause__ is None


async def test_a_token_of_a_key_that_names_another_directory_is_refused(
    entra: EntraAuthenticator, directory: Directory
) -> None:
    directory.key_issuer = f"{AUTHORITY}/{OTHER_TENANT}/v2.0"
    with pytest.raises(UnauthenticatedError):
        await enter(entra, directory.token())


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {"tid": OTHER_TENANT, "iss": f"{AUTHORITY}/{OTHER_TENANT}/v2.0"},
            id="a directory that is not listed",
        ),
        pytest.param({"scp": "openid"}, id="without our scope"),
        pytest.param({"scp": None}, id="an application without a role"),
    ],
)
async def test_a_verified_stranger_is_forbidden(
    entra: EntraAuthenticator, directory: Directory, changes: dict[str, Any]
) -> None:
    with pytest.raises(ForbiddenError):
        await enter(entra, directory.token(**changes))


async def test_keys_are_fetched_once(entra: EntraAuthenticator, directory: Directory) -> None:
    await asyncio.gather(*(enter(entra, directory.token()) for _ in range(20)))
    assert directory.downloads == 1


async def test_a_new_key_is_found_after_the_old_ones_were_kept(
    entra: EntraAuthenticator, directory: Directory, clock: FixedClock
) -> None:
    await enter(entra, directory.token())
    directory.published = ["two"]
    clock.advance(ASK_AGAIN_SECONDS + 1)
    await enter(entra, directory.token(key="two"))
    with pytest.raises(UnauthenticatedError):
        await enter(entra, directory.token(key="one"))


async def test_made_up_key_ids_cause_one_download_a_minute(
    entra: EntraAuthenticator, directory: Directory, clock: FixedClock
) -> None:
    for _ in range(50):
        with pytest.raises(UnauthenticatedError):
            await enter(entra, directory.token(key="two"))
    assert directory.downloads == 1
    clock.advance(ASK_AGAIN_SECONDS + 1)
    with pytest.raises(UnauthenticatedError):
        await enter(entra, directory.token(key="two"))
    assert directory.downloads == 2


async def test_a_directory_that_is_down_is_no_fault_of_the_user(
    entra: EntraAuthenticator, directory: Directory
) -> None:
    directory.status = 503
    for _ in range(5):
        with pytest.raises(SignInUnavailableError):
            await enter(entra, directory.token())
    assert directory.downloads == 1, "a failed download is not repeated at once"


async def test_known_keys_serve_while_the_directory_is_down(
    entra: EntraAuthenticator, directory: Directory, clock: FixedClock
) -> None:
    clock.advance(1)
    await enter(entra, directory.token())
    directory.status = 503
    clock.advance(7 * 3_600)
    long_lived = directory.token(exp=int(clock.now().timestamp()) + 10 * 86_400)
    await enter(entra, long_lived)
    clock.advance(20 * 3_600)
    with pytest.raises(SignInUnavailableError):
        await enter(entra, long_lived)


@pytest.mark.slow
async def test_a_slow_directory_costs_three_seconds_once(
    entra: EntraAuthenticator, directory: Directory
) -> None:
    directory.delay_seconds = 5.0
    for _ in range(5):
        with pytest.raises(SignInUnavailableError):
            await enter(entra, directory.token())
    assert directory.downloads == 1, "each paid what one has to pay"


@pytest.mark.slow
@given(st.text(max_size=200) | st.lists(st.binary(max_size=60), min_size=3, max_size=3))
def test_no_text_breaks_the_form_check(raw: str | list[bytes]) -> None:
    token = raw if isinstance(raw, str) else ".".join(urlsafe_b64encode(b).decode() for b in raw)
    with pytest.raises(UnauthenticatedError):
        read_form(token, now=FixedClock().now())
