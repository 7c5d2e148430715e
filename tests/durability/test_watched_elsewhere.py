"""Two real servers on one store: who asks one for a run of the other."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import aiohttp
import pytest

from tests.durability.test_two_processes import Pair, chat_about_four, two_servers
from tests.e2e.models import ModelServer, running_model
from tests.e2e.storage import Stored
from tests.e2e.talks import Frame, answer_of, at_rest, is_last, next_frame, socket_to
from tests.fakes_openai import RecordedRequest, Reply
from tests.fakes_openai_brain import brain

pytestmark = pytest.mark.slow

WORDS = ("slow", "quiet", "even", "plain", "calm", "soft", "long", "mild")
STORY = " ".join(f"It went on in a {one} and {other} way." for one in WORDS for other in WORDS)
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class House:
    """Two replicas and the model that both ask."""

    pair: Pair
    model: ModelServer


def paced(request: RecordedRequest) -> Reply:
    """Tell the story over half a minute, or until the model shall be hasty."""
    if "response_format" in request.body:
        return brain(request)
    return Reply(text=STORY, chunk_chars=8, tokens_per_second=4.0)


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory, azure_accounts: Iterator[str]
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("watched")
    with (
        running_model(brain) as model,
        two_servers(folder, azure_accounts, model.settings()) as pair,
    ):
        yield House(pair, model)


async def new_story(house: House) -> str:
    house.model.brain, house.model.is_hasty = brain, False
    chat = await chat_about_four(house.pair)
    house.model.brain = paced
    return chat


async def frames_until(
    socket: aiohttp.ClientWebSocketResponse, *, kind: str | None = None
) -> list[Frame]:
    """Return the frames up to one of that kind, or to the last."""
    frames: list[Frame] = []
    while not frames or not (is_last(frames[-1]) or frames[-1]["type"] == kind):
        frames.append(await next_frame(socket))
    return frames


def place(frames: list[Frame]) -> tuple[str, int]:
    last = frames[-1]["metadata"]
    return str(last["runId"]), int(last["seq"])


def stored_texts(pair: Pair, chat: str) -> list[str]:
    history = Stored(pair.stored_blobs, chat).document("patient_patient_4_context.json")[
        "chat_history"
    ]
    return [message["text"] for message in history[-1]["agent_responses"]]


async def begun(socket: aiohttp.ClientWebSocketResponse, text: str) -> tuple[list[Frame], str, int]:
    """Ask, and return the first frames with the run and its place once text comes."""
    await socket.send_json({"content": text})
    frames = await frames_until(socket, kind="TEXT_MESSAGE_CONTENT")
    return frames, *place(frames)


async def test_who_is_cut_off_amid_an_answer_has_it_whole_from_another_server(house: House) -> None:
    pair, chat = house.pair, await new_story(house)
    async with aiohttp.ClientSession() as client:
        async with socket_to(client, pair.one.url, chat, "?stream=1") as socket:
            _, run, seq = await begun(socket, "tell me, says alpha")
        async with socket_to(
            client, pair.two.url, chat, f"?stream=1&run={run}&after={seq}"
        ) as socket:
            # What it has begun to show is told in other pieces: it asks from the first on.
            assert (await next_frame(socket))["name"] == "run_unknown"
        async with socket_to(client, pair.two.url, chat, f"?stream=1&run={run}") as socket:
            house.model.is_hasty = True
            frames = await frames_until(socket)
    assert [frame["metadata"]["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    assert frames[0]["input"]["messages"][0]["content"] == "tell me, says alpha"
    answer = answer_of(frames)
    assert answer.failure is None
    await at_rest(Stored(pair.stored_blobs, chat))
    assert [said.text for said in answer.said] == stored_texts(pair, chat) == [STORY]


async def test_who_asks_for_a_run_of_a_server_that_dies_is_told_and_can_go_on(house: House) -> None:
    pair, chat = house.pair, await new_story(house)
    async with (
        aiohttp.ClientSession() as client,
        socket_to(client, pair.one.url, chat, "?stream=1") as socket,
    ):
        _, run, _ = await begun(socket, "tell me, says gamma")
        async with socket_to(client, pair.two.url, chat, f"?stream=1&run={run}") as other:
            pair.one.kill()
            async with asyncio.timeout(PATIENCE_SECONDS):
                seen = await frames_until(other)
            house.model.brain = brain
            await other.send_json({"content": "go on, says delta"})
            after = await frames_until(other)
    assert (seen[-1]["type"], seen[-1]["code"]) == ("RUN_ERROR", "interrupted")
    answer = answer_of(after)
    assert answer.failure is None
    assert "interrupted" in answer.notices
