"""One conversation with a running server, over each surface, told in the same words."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal, Protocol, TypeAlias, assert_never

import aiohttp
import jsonpatch
import orjson
from ag_ui.core import Event
from pydantic import TypeAdapter

from tests.e2e.storage import Stored
from tests.fakes_connector import FakeConnector

TURN_SECONDS = 180.0
FOOTER_START = "\n\n---\n*PT_CTX:*\n"
Frame: TypeAlias = dict[str, Any]
Surface: TypeAlias = Literal["plain", "stream", "ag-ui", "bot"]
SURFACES: tuple[Surface, ...] = ("plain", "stream", "ag-ui", "bot")
_EVENT: TypeAdapter[Any] = TypeAdapter(Event)
_SPEAKER = re.compile(r"\*\*(\w+)\*\*(?: \((\d+) of \d+\))?[^\n]*\n\n")
_numbers = count(1)


@dataclass(frozen=True)
class Said:
    """One message of an agent, without the footer."""

    agent: str
    text: str


@dataclass(frozen=True)
class Answer:
    """All that one turn showed.

    Attributes:
        endings: The footers of the messages, where the surface has footers.
        state: The shared state at the end, where the surface has that.
        waits: Whether the surface offered the user a choice.
        failure: Code of the error that the turn ended with.
    """

    said: tuple[Said, ...]
    notices: tuple[str, ...] = ()
    endings: frozenset[str] = frozenset()
    state: Frame | None = None
    waits: bool | None = None
    failure: str | None = None

    @property
    def agents(self) -> list[str]:
        return [one.agent for one in self.said]

    @property
    def text(self) -> str:
        return "\n\n".join(one.text for one in self.said)


class Talk(Protocol):
    """One conversation over one surface."""

    conversation: str

    async def say(self, text: str, *, last_words: str) -> Answer:
        """Say `text`; return the answer, which is over with `last_words` where nothing says so."""
        ...


WHO = {
    "patient_4": "Margaret Anne Whitfield, born 1957-03-14",
    "patient_15": "Zoë Łucja Çelik-Sørensen, born 1979-11-02",
}
"""Both identifiers of the samples' patients who are walked through."""


def footer(conversation: str, active: str | None, patients: list[str]) -> str:
    """Return the footer as spec page 1.9 writes it."""
    listed = ", ".join(f"`{one}`{' (active)' if one == active else ''}" for one in patients)
    first = "- *No active patient.*" if active is None else f"- **Patient ID:** `{active}`"
    who = [f"- **Patient:** {WHO[active]}"] if active in WHO else []
    roster = [f"- **Session Patients:** {listed}"] if patients else []
    return "\n".join([*who, first, *roster, f"- **Conversation ID:** `{conversation}`"])


@asynccontextmanager
async def talking(url: str, surface: Surface) -> AsyncIterator[Talk]:
    """Open a new conversation with the server at `url`."""
    async with aiohttp.ClientSession() as client:
        match surface:
            case "plain":
                conversation = await new_chat(client, url)
                async with socket_to(client, url, conversation) as socket:
                    yield PlainTalk(conversation, socket)
            case "stream":
                async with streaming(url) as talk:
                    yield talk
            case "ag-ui":
                yield AgUiTalk(await new_chat(client, url), client, url)
            case "bot":
                # The limits of a channel are what test_bot.py and tests/bots are about.
                async with FakeConnector(messages_per_second=1_000) as channel:
                    yield BotTalk(f"19:walk-{next(_numbers)}@thread.tacv2", channel, url)
                    assert channel.faults == []
            case _:
                assert_never(surface)


@asynccontextmanager
async def streaming(url: str) -> AsyncIterator["StreamTalk"]:
    """Open a new conversation with the server at `url`, over a socket that streams."""
    async with aiohttp.ClientSession() as client:
        conversation = await new_chat(client, url)
        async with socket_to(client, url, conversation, "?stream=1") as socket:
            yield StreamTalk(conversation, socket)


async def new_chat(client: aiohttp.ClientSession, url: str) -> str:
    """Return the id of a new conversation."""
    async with client.post(f"{url}/api/chats") as answer:
        assert answer.status == 201
        return str((await answer.json())["chat_id"])


@asynccontextmanager
async def socket_to(
    client: aiohttp.ClientSession, url: str, conversation: str, query: str = ""
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open a socket to a conversation."""
    address = f"{url}/api/ws/chats/{conversation}/messages{query}"
    async with client.ws_connect(address, max_msg_size=0) as socket:
        yield socket


async def next_frame(socket: aiohttp.ClientWebSocketResponse) -> Frame:
    """Return the next frame; a turn that says nothing for a minute hangs."""
    frame: Frame = orjson.loads(await socket.receive_str(timeout=TURN_SECONDS))
    return frame


@dataclass
class PlainTalk:
    """WebSocket, whole messages."""

    conversation: str
    socket: aiohttp.ClientWebSocketResponse

    async def say(self, text: str, *, last_words: str = "") -> Answer:
        await self.socket.send_json({"content": text, "sender": "Dr. Ada"})
        return await self.answer()

    async def answer(self) -> Answer:
        """Return the answer to a message that was sent before."""
        frames: list[Frame] = []
        while not frames or frames[-1].get("type") != "done":
            frames.append(await next_frame(self.socket))
        spoken = [frame for frame in frames if "content" in frame and "notice" not in frame]
        pairs = [frame["content"].partition(FOOTER_START) for frame in spoken]
        said = [Said(frame["sender"], pair[0]) for frame, pair in zip(spoken, pairs, strict=True)]
        return Answer(
            said=tuple(said),
            notices=tuple(frame["notice"] for frame in frames if "notice" in frame),
            endings=frozenset(pair[2] for pair in pairs),
            failure=next((frame["code"] for frame in frames if "error" in frame), None),
        )


@dataclass
class StreamTalk:
    """WebSocket, AG-UI events; every one is held against the protocol's own models.

    Attributes:
        runs: All frames so far, run by run.
    """

    conversation: str
    socket: aiohttp.ClientWebSocketResponse
    runs: list[list[Frame]] = field(default_factory=list)

    async def say(self, text: str, *, last_words: str = "") -> Answer:
        await self.socket.send_json({"content": text, "sender": "Dr. Ada"})
        return await self.answer()

    async def answer(self) -> Answer:
        """Return the answer to a message that was sent before."""
        frames: list[Frame] = []
        while not frames or not is_last(frames[-1]):
            frames.append(await next_frame(self.socket))
        self.runs.append(frames)
        assert [frame["metadata"]["seq"] for frame in frames] == list(range(1, len(frames) + 1))
        return answer_of(frames)


@dataclass
class AgUiTalk:
    """`POST /api/ag-ui`, a request for each turn."""

    conversation: str
    client: aiohttp.ClientSession
    url: str

    async def say(self, text: str, *, last_words: str = "") -> Answer:
        run = f"run-{next(_numbers)}"
        asked = {
            "threadId": self.conversation,
            "runId": run,
            "messages": [{"id": "m1", "role": "user", "content": text}],
            "state": {},
            "tools": [],
            "context": [],
            "forwardedProps": {"interrupts": True},
        }
        timeout = aiohttp.ClientTimeout(total=TURN_SECONDS)
        async with self.client.post(f"{self.url}/api/ag-ui", json=asked, timeout=timeout) as answer:
            assert answer.status == 200
            assert answer.content_type == "text/event-stream"
            body = await answer.read()
        lines = body.decode().split("\n\n")
        frames = [orjson.loads(line[6:]) for line in lines if line.startswith("data: ")]
        assert (frames[0]["threadId"], frames[0]["runId"]) == (self.conversation, run)
        return answer_of(frames)


@dataclass
class BotTalk:
    """Bot Framework, through a channel that keeps the real ones' limits."""

    conversation: str
    channel: FakeConnector
    url: str

    async def say(self, text: str, *, last_words: str) -> Answer:
        before = len(self.channel.activities(self.conversation))
        posted = await self.channel.say(self.url, text, conversation=self.conversation)
        assert posted.status == 202
        return await self.answer(before, last_words=last_words)

    async def press(self, title: str, *, last_words: str) -> Answer:
        """Press a button of the newest card."""
        before = len(self.channel.activities(self.conversation))
        button = self.channel.buttons(self.conversation)[title]
        posted = await self.channel.press(self.url, button, conversation=self.conversation)
        assert posted.status == 202
        return await self.answer(before, last_words=last_words)

    async def answer(self, before: int, *, last_words: str) -> Answer:
        """Return what has come since the `before`-th activity, once `last_words` were said."""
        await self.channel.until(
            lambda activity: last_words in (activity.get("text") or ""),
            conversation=self.conversation,
            after=before,
            seconds=TURN_SECONDS,
        )
        # A channel that is full asks to be tried again in a second.
        await self.channel.until_quiet(self.conversation, seconds=0.7)
        sent = self.channel.activities(self.conversation)[before:]
        messages = [one for one in sent if one["type"] == "message"]
        texts = [one["text"] for one in messages if "text" in one]
        pairs = [text.partition(FOOTER_START) for text in texts if _SPEAKER.match(text)]
        return Answer(
            said=tuple(_joined([_spoken(pair[0]) for pair in pairs])),
            notices=tuple(text for text in texts if not _SPEAKER.match(text)),
            endings=frozenset(pair[2] for pair in pairs if pair[2]),
            waits=any(
                attached.get("content", {}).get("actions")
                for one in messages
                for attached in one.get("attachments", [])
            ),
        )


def _spoken(text: str) -> tuple[Said, bool]:
    """Return what was said, and whether it goes on from the message before."""
    speaker = _SPEAKER.match(text)
    assert speaker is not None
    return Said(speaker[1], text[speaker.end() :]), speaker[2] not in (None, "1")


def _joined(parts: list[tuple[Said, bool]]) -> list[Said]:
    said: list[Said] = []
    for part, goes_on in parts:
        if goes_on:
            said[-1] = Said(part.agent, f"{said[-1].text}\n{part.text}")
        else:
            said.append(part)
    return said


def is_last(frame: Frame) -> bool:
    """Whether `frame` ends its run."""
    return frame["type"] in ("RUN_FINISHED", "RUN_ERROR")


def is_notice(frame: Frame) -> bool:
    """Whether `frame` says something beside the messages; views and claims belong to them."""
    return frame["type"] == "CUSTOM" and frame["name"] not in ("view", "claims")


def answer_of(frames: list[Frame]) -> Answer:
    """Return what the events of one run say."""
    for frame in frames:
        _EVENT.validate_python(frame)
    assert frames[0]["type"] == "RUN_STARTED"
    last = frames[-1]
    assert is_last(last)
    return Answer(
        said=tuple(_said_in(frames)),
        notices=tuple(f["value"]["kind"] for f in frames if is_notice(f)),
        state=state_after(frames),
        waits=last["type"] == "RUN_FINISHED" and last["outcome"]["type"] == "interrupt",
        failure=last.get("code") if last["type"] == "RUN_ERROR" else None,
    )


def _said_in(frames: list[Frame]) -> list[Said]:
    names: dict[str, str] = {}
    texts: dict[str, str] = {}
    for frame in frames:
        if frame["type"] == "TEXT_MESSAGE_START":
            names[frame["messageId"]], texts[frame["messageId"]] = frame["name"], ""
        elif frame["type"] == "TEXT_MESSAGE_CONTENT":
            texts[frame["messageId"]] += frame["delta"]
    return [Said(agent, texts[message_id]) for message_id, agent in names.items()]


def state_after(frames: list[Frame]) -> Frame | None:
    """Return the shared state as a client has it that applies every patch."""
    state: Frame | None = None
    for frame in frames:
        if frame["type"] == "STATE_SNAPSHOT":
            state = frame["snapshot"]
        elif frame["type"] == "STATE_DELTA":
            state = jsonpatch.apply_patch(state, frame["delta"])
    return state


async def at_rest(stored: Stored) -> None:
    """Return once no turn holds the conversation: its last write follows its last word."""
    async with asyncio.timeout(TURN_SECONDS):
        while not is_at_rest(stored):  # noqa: ASYNC110 - the other side is another process
            await asyncio.sleep(0.05)


def is_at_rest(stored: Stored) -> bool:
    """Whether nothing is under way in the conversation, and nobody waits."""
    conversation = stored.document("conversation.json")
    waiting = conversation["inbox_head"] != conversation["inbox_tail"]
    is_busy = conversation["running_turn"] or conversation["pending_clear"]
    return not is_busy and not waiting
