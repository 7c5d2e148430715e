"""Who may come in, and what the door makes of nonsense, on the server as it is deployed."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import orjson
import pytest

from tests.e2e.models import ModelServer, running_model
from tests.e2e.server import Server, running_server
from tests.fakes_connector import FakeConnector
from tests.fakes_openai_brain import brain

pytestmark = pytest.mark.slow

APP_ID = "11111111-2222-3333-4444-555555555555"
KEYS = {name: f"{name}-key-of-tests" for name in ("ada", "ben")}
UNSIGNED = "eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2FwaS5ib3RmcmFtZXdvcmsuY29tIn0."


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with running_model(brain) as server:
        yield server


@pytest.fixture(scope="module")
def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    keys = ",".join(f"{name}:{_hash(key)}" for name, key in KEYS.items())
    settings = {
        **model.settings(),
        "AUTH_MODE": "api_key",
        "API_KEYS": keys,
        "MicrosoftAppId": APP_ID,
        "MicrosoftAppPassword": "not a secret",
        "ADDITIONAL_ALLOWED_TENANT_IDS": "22222222-3333-4444-5555-666666666666",
        "ADDITIONAL_ALLOWED_USER_IDS": "33333333-4444-5555-6666-777777777777",
    }
    with running_server(tmp_path_factory.mktemp("door"), **settings) as running:
        yield running


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name]}"}


@pytest.fixture
async def ada() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(headers=bearer("ada")) as client:
        yield client


async def refusal(server: Server, path: str, headers: dict[str, str]) -> tuple[int, Any]:
    """Return how the handshake or request to `path` is refused."""
    async with (
        aiohttp.ClientSession() as client,
        client.get(f"{server.url}{path}", headers=headers) as answer,
    ):
        body = await answer.json(content_type=None)
        # Each refusal has a reference of its own.
        return answer.status, {name: value for name, value in body.items() if name != "ref"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer nonsense"}, 401),
        ({"Authorization": f"Basic {KEYS['ada']}"}, 401),
        ({"Cookie": f"token={KEYS['ada']}"}, 401),
        ({"X-MS-CLIENT-PRINCIPAL": "e30="}, 401),
        ({**bearer("ada"), "Origin": "https://evil.example"}, 403),
        ({**bearer("ada"), "Origin": "null"}, 403),
        ({**bearer("ada"), "Origin": "http://127.0.0.1.evil.example"}, 403),
    ],
)
async def test_the_handshake_lets_no_stranger_in(
    server: Server, headers: dict[str, str], status: int
) -> None:
    for path in ("/api/ws/chats/chat_1/messages", "/api/chats", "/api/chats/chat_1"):
        told, _ = await refusal(server, path, headers)
        assert told == status, path


@pytest.mark.parametrize(
    "authorization",
    [None, "Bearer", "Bearer garbage", f"Bearer {UNSIGNED}", "Basic YTpi", f"Bearer {'a' * 9_000}"],
)
async def test_the_bot_turns_strangers_away(server: Server, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    async with FakeConnector() as channel:
        activity = channel.activity(text="start tumor board for patient_4")
        await channel.post(server.url, activity, headers=headers)
        posted = await channel.post(server.url, activity, headers=headers)
        assert posted.status in (400, 401, 403)
        assert channel.messages() == []


async def test_no_refusal_is_a_server_error(server: Server) -> None:
    async with aiohttp.ClientSession(headers=bearer("ada")) as client:
        for body in (b"", b"{", b"[]", b'{"type":', b"\xff", orjson.dumps({"a": [[[[]]]]})):
            for path in ("/api/messages", "/api/Radiology/messages", "/api/ag-ui", "/api/nobody"):
                async with client.post(f"{server.url}{path}", data=body) as answer:
                    assert 400 <= answer.status < 500, (path, body)
    assert "Traceback" not in server.log
