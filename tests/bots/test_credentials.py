"""The tokens that replies carry."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from azure.core.credentials import AccessToken

from bots import bot_factory
from bots.bot_factory import token_source
from bots.config import Registration
from data_models.errors import ChannelUnavailableError
from services.own_sign_in import TokenSource
from tests.fakes import FixedClock

FORM = {
    "grant_type": "client_credentials",
    "scope": "https://api.botframework.com/.default",
    "client_id": "app",
    "client_secret": "s3cret",
}


class Directory:
    """Gives tokens one after the other, or fails as the real one does."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.failure: Callable[[], web.Response] | None = None

    async def issue(self, request: web.Request) -> web.Response:
        self.asked.append((request.match_info["directory"], dict(await request.post())))
        if self.failure is not None:
            return self.failure()
        return web.json_response({"access_token": f"token-{len(self.asked)}", "expires_in": 3_599})


@pytest.fixture
async def directory(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Directory]:
    found, app = Directory(), web.Application()
    app.router.add_post("/{directory}/oauth2/v2.0/token", found.issue)
    async with TestServer(app, host="127.0.0.1") as server:
        monkeypatch.setattr(bot_factory, "LOGIN", f"http://127.0.0.1:{server.port}")
        yield found


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as found:
        yield found


@pytest.fixture
def tokens(session: aiohttp.ClientSession, clock: FixedClock, directory: Directory) -> TokenSource:
    bot = Registration(app_id="app", app_password="s3cret")
    return token_source(bot, session=session, clock=clock)


async def test_many_replies_ask_for_one_token(tokens: TokenSource, directory: Directory) -> None:
    assert set(await asyncio.gather(*(tokens.token() for _ in range(10)))) == {"token-1"}
    assert directory.asked == [("botframework.com", FORM)]


async def test_a_bot_of_one_directory_signs_in_there(
    session: aiohttp.ClientSession, clock: FixedClock, directory: Directory
) -> None:
    bot = Registration(app_id="app", app_password="s3cret", directory="home")
    assert await token_source(bot, session=session, clock=clock).token() == "token-1"
    assert directory.asked == [("home", FORM)]


class Identity:
    """Stands for what asks the platform for the token of one identity."""

    def __init__(self, *, client_id: str) -> None:
        self.client_id = client_id

    async def __aenter__(self) -> "Identity":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def get_token(self, scope: str) -> AccessToken:
        return AccessToken(f"{scope} for {self.client_id}", 2**40)


async def test_a_managed_identity_signs_in_as_the_bots_own(
    session: aiohttp.ClientSession, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("azure.identity.aio.ManagedIdentityCredential", Identity)
    bot = Registration("app", app_type="UserAssignedMSI")
    token = await token_source(bot, session=session, clock=clock).token()
    assert token == f"{FORM['scope']} for app"


async def test_a_token_is_asked_for_before_it_is_old(
    tokens: TokenSource, clock: FixedClock, directory: Directory
) -> None:
    await tokens.token()
    clock.advance(3_300)
    assert await tokens.token() == "token-2"


@pytest.mark.slow
@pytest.mark.parametrize(
    "failure",
    [
        lambda: web.json_response({"error": "invalid_client"}, status=401, reason="s3cret"),
        lambda: web.json_response({"error_description": "s3cret"}),
        lambda: web.Response(status=503),
        lambda: web.Response(text="s3cret"),
    ],
)
async def test_a_directory_that_gives_none_is_a_channel_that_cannot_be_reached(
    failure: Callable[[], web.Response], tokens: TokenSource, directory: Directory
) -> None:
    directory.failure = failure
    with pytest.raises(ChannelUnavailableError) as caught:
        await tokens.token()
    assert "s3cret" not in repr(caught.value)
    assert caught.value.__cause__ is None
    directory.failure = None
    assert await tokens.token() == "token-2"


async def test_a_refused_token_is_asked_for_anew(tokens: TokenSource, directory: Directory) -> None:
    assert tokens.note_refusal(await tokens.token())
    assert await tokens.token() == "token-2"
