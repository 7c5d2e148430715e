"""Two real servers on one store: nothing is lost or doubled, and one that slept writes not."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from data_models.identifiers import storage_folder
from tests.durability.evidence import Evidence
from tests.e2e.models import running_model
from tests.e2e.server import Server, running_server
from tests.e2e.storage import Stored, StoredBlobs, StoredFiles, StoredInAzure
from tests.e2e.talks import Frame, PlainTalk, at_rest, is_last, new_chat, next_frame, socket_to
from tests.fakes_openai import RecordedRequest, Reply
from tests.fakes_openai_brain import brain

pytestmark = pytest.mark.slow

SOCKETS, MESSAGES = 5, 10
SWEPT_SECONDS = 30
SMALL_QUEUE = {"QUEUE_DEPTH": "3"}
SHORT_CLAIMS = {"CLAIM_SECONDS": "2", "CLAIM_RENEW_SECONDS": "0.5", "CLAIM_GRACE_SECONDS": "0.5"}


@dataclass(frozen=True)
class Pair:
    """Two replicas and what they share."""

    one: Server
    two: Server
    stored_blobs: StoredBlobs

    def contents(self, chat: str) -> dict[str, bytes]:
        stored = Stored(self.stored_blobs, chat)
        return {f"{storage_folder(chat)}/{name}": stored.read(name) for name in stored.names()}

    def evidence(self, chat: str) -> Evidence:
        return Evidence(self.contents(chat), chat)


@contextmanager
def two_servers(
    folder: Path, accounts: Iterator[str] | None, settings: dict[str, str]
) -> Iterator[Pair]:
    with ExitStack() as stack:
        stored_blobs: StoredBlobs
        if accounts is None:
            stored_blobs = StoredFiles(folder / "one" / "data")
            shared = {"DATA_DIR": str(folder / "one" / "data")}
        else:
            account = next(accounts)
            stored_blobs = azure = StoredInAzure(account)
            stack.callback(azure.close)
            shared = {"AZURE_STORAGE_CONNECTION_STRING": account}
        servers = [
            stack.enter_context(running_server(folder / name, **shared, **settings))
            for name in ("one", "two")
        ]
        yield Pair(servers[0], servers[1], stored_blobs)


async def chat_about_four(pair: Pair) -> str:
    async with aiohttp.ClientSession() as client:
        chat = await new_chat(client, pair.one.url)
        async with socket_to(client, pair.one.url, chat) as socket:
            await PlainTalk(chat, socket).say("switch to patient_4")
    return chat


async def talk(server: Server, chat: str, name: str) -> int:
    """Say ten things one after the other, each until it is answered; return how many retries."""
    retries = 0
    async with aiohttp.ClientSession() as client, socket_to(client, server.url, chat) as socket:
        for number in range(MESSAGES):
            said = {"content": f"note {name}.{number}!", "client_message_id": f"{name}.{number}"}
            await socket.send_json(said)
            while (frame := await next_frame(socket)).get("type") != "done":
                if frame.get("code") == "too_many_messages":
                    retries += 1
                    await next_frame(socket)
                    await asyncio.sleep(0.2)
                    await socket.send_json(said)
                else:
                    assert "error" not in frame, frame
    return retries


async def empty_inbox(stored: Stored) -> None:
    """Return once no queued message is stored: each is deleted after its turn is committed."""
    async with asyncio.timeout(SWEPT_SECONDS):
        while any(name.startswith("inbox/") for name in stored.names()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("place", ["files", "azurite"])
async def test_a_hundred_messages_through_two_servers_are_stored_once_each(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    accounts = request.getfixturevalue("azure_accounts") if place == "azurite" else None
    with two_servers(tmp_path, accounts, {"LLM_PROVIDER": "offline", **SMALL_QUEUE}) as pair:
        chat = await chat_about_four(pair)
        names = [f"{server}{number}" for server in "ab" for number in range(SOCKETS)]
        servers = {"a": pair.one, "b": pair.two}

        retries = await asyncio.gather(*(talk(servers[name[0]], chat, name) for name in names))

        assert sum(retries) > 0, "the queue was never full: the test is too tame"
        await at_rest(Stored(pair.stored_blobs, chat))
        await empty_inbox(Stored(pair.stored_blobs, chat))
        found = pair.evidence(chat)
        assert {each.patient_id for each in found.turns()} == {"patient_4"}
        turns = sorted((each.turn for each in found.turns()), key=lambda turn: turn.turn_id)
        assert [turn.turn_id for turn in turns] == list(range(1, 102))
        assert {turn.turn_status for turn in turns} == {"COMPLETED"}
        said = [turn.user_message for turn in turns[1:]]
        assert len(set(said)) == 100
        for name in names:
            mine = [text for text in said if text.startswith(f"note {name}.")]
            assert mine == [f"note {name}.{number}!" for number in range(MESSAGES)]
        conversation = found.conversation
        assert conversation.running_turn is None
        assert conversation.inbox_head == conversation.inbox_tail > 0


def slow(request: RecordedRequest) -> Reply:
    """Tell a story over ten seconds."""
    if "response_format" in request.body:
        return brain(request)
    return Reply(
        text="".join(f"Part {part} of a story. " for part in range(24)),
        chunk_chars=14,
        tokens_per_second=4.0,
    )


async def last_frame(socket: aiohttp.ClientWebSocketResponse) -> Frame:
    while not is_last(frame := await next_frame(socket)):
        pass
    return frame


@pytest.mark.parametrize("place", ["files", "azurite"])
async def test_a_server_that_stood_still_writes_nothing_when_it_wakes(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    accounts = request.getfixturevalue("azure_accounts") if place == "azurite" else None
    with (
        running_model(brain) as model,
        two_servers(tmp_path, accounts, {**model.settings(), **SHORT_CLAIMS}) as pair,
    ):
        chat = await chat_about_four(pair)
        model.brain = slow
        async with (
            aiohttp.ClientSession() as client,
            socket_to(client, pair.one.url, chat, "?stream=1") as socket,
            socket_to(client, pair.two.url, chat) as other,
        ):
            await socket.send_json({"content": "tell me, says alpha"})
            while "delta" not in await next_frame(socket):
                pass
            pair.one.freeze()
            await asyncio.sleep(3)
            model.brain = brain
            answer = await PlainTalk(chat, other).say("go on, says beta")
            assert (answer.failure, answer.notices.count("interrupted")) == (None, 1)
            await at_rest(Stored(pair.stored_blobs, chat))
            before = pair.contents(chat)

            pair.one.signal(signal.SIGCONT)

            woken = await last_frame(socket)
            assert (woken["type"], woken["code"]) == ("RUN_ERROR", "claim_lost")
            await asyncio.sleep(3)
            assert pair.contents(chat) == before
            # It serves on, and sees what happened while it slept.
            await socket.send_json({"content": "and then, says gamma"})
            assert (await last_frame(socket))["type"] == "RUN_FINISHED"
            await at_rest(Stored(pair.stored_blobs, chat))
        found = pair.evidence(chat)
        assert [len(found.saying(word)) for word in ("alpha", "beta", "gamma")] == [1, 1, 1]
        (four,) = [each for each in found.contexts() if each.patient_id == "patient_4"]
        assert four.fence == 1
