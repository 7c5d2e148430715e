"""A body counts once it is whole, however it arrives, and never beyond its bounds."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr

from bots.config import PerBot, ServiceUrls
from bots.connector import Connector, channel_session
from bots.rendering.rendering import text_activity
from data_models.clock import SystemClock
from data_models.http_answers import first_bytes, seconds_asked
from services.own_sign_in import Client, ClientCredentials, OwnToken
from services.records.fhir.fhir_chosen import TOKEN_ERRORS
from services.speech import Speech
from tests.fakes import FixedClock
from tests.tables import with_cases

BODY = b'{"text": "what is the stage?", "access_token": "t1", "id": "reply-1"}'


async def in_two_pieces(request: web.Request) -> web.StreamResponse:
    await request.read()
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(BODY[:20])
    await asyncio.sleep(0.05)
    await response.write(BODY[20:])
    return response


@pytest.fixture
async def url() -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", in_two_pieces)
    async with TestServer(app, host="127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as found:
        yield found


@pytest.mark.parametrize("limit", [1, 20, 21, len(BODY), 1_000_000])
async def test_as_much_is_read_as_is_asked_for(
    url: str, session: aiohttp.ClientSession, limit: int
) -> None:
    async with session.get(url) as answer:
        assert await first_bytes(answer.content, limit_bytes=limit) == BODY[:limit]


async def test_words_that_arrive_in_pieces_are_written_down_whole(
    url: str, session: aiohttp.ClientSession
) -> None:
    speech = Speech(url=url, model="m", key=SecretStr("k"), session=session)
    assert await speech.write_down(b"sound", media_type="audio/webm") == "what is the stage?"


async def test_a_token_that_arrives_in_pieces_is_a_token(
    url: str, session: aiohttp.ClientSession
) -> None:
    client = Client(client_id="rounds", scope="system/*.rs", token_url=f"{url}/token", secret="s")
    clock = SystemClock()
    sign_in = ClientCredentials(client=client, errors=TOKEN_ERRORS, session=session, clock=clock)
    assert (await sign_in()).text == "t1"


async def test_what_a_channel_calls_a_reply_may_arrive_in_pieces(url: str) -> None:
    async with channel_session(loopback=True) as session:
        connector = Connector(
            session=session,
            tokens=PerBot(OwnToken(token="")),
            service_urls=ServiceUrls(hosts=(), loopback=True),
            clock=SystemClock(),
        )
        place = {"channelId": "emulator", "serviceUrl": url, "conversation": {"id": "c"}}
        told = place | {"bot": {"id": "b"}, "user": {"id": "u"}}
        assert await connector.send(told, text_activity("one")) == "reply-1"


@with_cases("headers", "seconds")
def test_the_pause_servers_ask_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_asked(headers, now=FixedClock().now()) == seconds
