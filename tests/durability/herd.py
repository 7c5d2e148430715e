"""Several real servers on one storage account, harmed all the time, and people who talk."""

import asyncio
import random
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import aiohttp
import orjson

from data_models.identifiers import storage_folder
from tests.durability.evidence import Evidence
from tests.e2e.models import running_model
from tests.e2e.server import Server
from tests.e2e.storage import Stored, StoredInAzure
from tests.e2e.talks import new_chat
from tests.fakes_connector import FakeConnector
from tests.fakes_openai import RecordedRequest, Reply
from tests.fakes_openai_brain import brain

TURN_SECONDS = 120.0
HEARTBEAT_SECONDS = 10.0
"""A socket whose server stands still is given up after one and a half of these."""
NOTICED_SECONDS = 5.0
RETRY_SECONDS = 0.3
SETTLE_SECONDS = 2.0
SHORT_CLAIMS = {"CLAIM_SECONDS": "8", "CLAIM_RENEW_SECONDS": "2", "CLAIM_GRACE_SECONDS": "1"}
"""What a dead server held is taken over after nine seconds; a pause of `Harm` is longer."""
_TOKEN = re.compile(r"note [a-z]\d+\.\d+!")
_GONE = (aiohttp.ClientError, ConnectionError, TimeoutError)


def heard(request: RecordedRequest) -> Reply:
    """Answer a note by its name, over half a second, so that kills meet turns."""
    if "response_format" in request.body:
        return brain(request)
    tokens = _TOKEN.findall(orjson.dumps(request.body["messages"]).decode())
    text = f"Heard {tokens[-1]}" if tokens else "Ready."
    return Reply(text=f"{text} {'It is noted. ' * 4}", chunk_chars=12, tokens_per_second=40.0)


@dataclass(frozen=True)
class Harm:
    """What is done to the servers while people talk.

    Attributes:
        kill_every: Seconds between two that are killed and started again; None kills nobody.
        pause_every: Seconds between two that stand still for a while; None lets all go on.
        pause_seconds: How long each does: longer than a claim lasts, and its grace.
    """

    kill_every: float | None = None
    pause_every: float | None = None
    pause_seconds: float = 40.0


@dataclass
class Herd:
    """The servers.

    Attributes:
        kills: How often one of them was killed.
        pauses: How often one of them stood still, and woke.
    """

    servers: Sequence[Server]
    stored_blobs: StoredInAzure
    kills: int = 0
    pauses: int = 0
    _harmed: set[int] = field(default_factory=set)
    _down: set[int] = field(default_factory=set)

    def any_url(self) -> str:
        """Return the address of a server that is up, as a balancer chooses one."""
        up = [each for number, each in enumerate(self.servers) if number not in self._down]
        return random.choice(up).url

    @asynccontextmanager
    async def harmed(self, harm: Harm) -> AsyncIterator[None]:
        """Have servers harmed meanwhile; after, all are up and awake."""
        enough = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            if harm.kill_every is not None:
                group.create_task(self._again_and_again(self._kill, harm.kill_every, enough))
            if harm.pause_every is not None:
                pause = partial(self._pause, harm.pause_seconds)
                group.create_task(self._again_and_again(pause, harm.pause_every, enough))
            try:
                yield
            finally:
                enough.set()

    async def _again_and_again(
        self, do: Callable[[int], Awaitable[None]], every: float, enough: asyncio.Event
    ) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(enough.wait(), every)
                return
            well = [each for each in range(len(self.servers)) if each not in self._harmed]
            number = random.choice(well)
            self._harmed.add(number)
            await do(number)
            self._harmed.discard(number)

    async def _kill(self, number: int) -> None:
        self._down.add(number)
        await asyncio.to_thread(self.servers[number].kill)
        self.kills += 1
        await asyncio.to_thread(self.servers[number].start)
        self._down.discard(number)

    async def _pause(self, seconds: float, number: int) -> None:
        self.servers[number].signal(signal.SIGSTOP)
        try:
            # Until a balancer's probes have noticed, it is still sent messages, which it reads
            # when it wakes.
            await asyncio.sleep(NOTICED_SECONDS)
            self._down.add(number)
            await asyncio.sleep(seconds - NOTICED_SECONDS)
        finally:
            self.servers[number].signal(signal.SIGCONT)
        self.pauses += 1
        self._down.discard(number)

    def evidence(self, conversation: str) -> Evidence:
        """Return what is stored of a conversation."""
        stored = Stored(self.stored_blobs, conversation)
        folder = storage_folder(conversation)
        return Evidence(
            {f"{folder}/{name}": stored.read(name) for name in stored.names()}, conversation
        )


@contextmanager
def running_herd(folder: Path, account: str, *, size: int, **settings: str) -> Iterator[Herd]:
    """Run `size` servers on one account, with a model that takes its time."""
    with ExitStack() as stack:
        model = stack.enter_context(running_model(heard))
        stored_blobs = StoredInAzure(account)
        stack.callback(stored_blobs.close)
        shared = {
            "AZURE_STORAGE_CONNECTION_STRING": account,
            "TURN_QUEUE": "rounds-turns",
            **SHORT_CLAIMS,
            **model.settings(),
            **settings,
        }
        servers = []
        for number in range(size):
            (folder / str(number)).mkdir(parents=True)
            server = Server(folder=folder / str(number), environment=shared)
            server.start()
            stack.callback(server.close)
            servers.append(server)
        yield Herd(servers, stored_blobs)


@dataclass
class Talk:
    """One conversation, and what its user met.

    Attributes:
        again: Messages that were sent again because the server died or asked for it.
        late: Answers that had not reached the channel after two minutes.
        heard: All that reached it.
    """

    conversation: str
    name: str
    said: list[str] = field(default_factory=list)
    again: int = 0
    late: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)


async def talk_by_bot(herd: Herd, channel: FakeConnector, talk: Talk, *, turns: int) -> None:
    """Say the notes two at a time, as an impatient user does; wait until both are answered."""
    await _post(herd, channel, talk, "switch to patient_4", "start")
    await _until(channel, talk, "patient_4")
    for first in range(0, turns, 2):
        notes = [f"note {talk.name}.{number}!" for number in range(first, min(first + 2, turns))]
        for note in notes:
            await _post(herd, channel, talk, note, note)
            talk.said.append(note)
        for note in notes:
            await _until(channel, talk, f"Heard {note}")


async def _post(herd: Herd, channel: FakeConnector, talk: Talk, text: str, name: str) -> None:
    """Post until a server takes it, as channels do: the same activity again."""
    while True:
        with suppress(*_GONE):
            posted = await channel.say(
                herd.any_url(),
                text,
                conversation=talk.conversation,
                activity_id=f"{talk.name}-{name}",
            )
            if posted.status == 202:
                return
        talk.again += 1
        await asyncio.sleep(RETRY_SECONDS)


async def _until(channel: FakeConnector, talk: Talk, words: str) -> None:
    try:
        await channel.until(
            lambda activity: words in (activity.get("text") or ""),
            conversation=talk.conversation,
            seconds=TURN_SECONDS,
        )
    except TimeoutError:
        talk.late.append(words)


async def talk_by_socket(herd: Herd, client: aiohttp.ClientSession, talk: Talk, turns: int) -> None:
    """Say the notes one by one; a socket that dies is opened anew, elsewhere perhaps."""
    await _answered(herd, client, talk, "switch to patient_4")
    for number in range(turns):
        note = f"note {talk.name}.{number}!"
        talk.said.append(note)
        await _answered(herd, client, talk, note)


async def _answered(herd: Herd, client: aiohttp.ClientSession, talk: Talk, text: str) -> None:
    """Send a message until it is answered; one that a server died over is sent as a new one."""
    attempt = 0
    while True:
        message = {"content": text, "client_message_id": f"{text}-{attempt}"}
        try:
            code = await asyncio.wait_for(_one_turn(herd, client, talk, message), TURN_SECONDS)
        except _GONE:
            code = "gone"
        if code == "":
            return
        talk.again += 1
        attempt += code == "interrupted"
        await asyncio.sleep(RETRY_SECONDS)


async def _one_turn(
    herd: Herd, client: aiohttp.ClientSession, talk: Talk, message: dict[str, str]
) -> str:
    """Return the code of the error that the turn ended with; empty if it was answered."""
    address = f"{herd.any_url()}/api/ws/chats/{talk.conversation}/messages"
    async with client.ws_connect(address, heartbeat=HEARTBEAT_SECONDS) as socket:
        await socket.send_json(message)
        code = ""
        async for frame in socket:
            if frame.type is not aiohttp.WSMsgType.TEXT:
                break
            body = orjson.loads(frame.data)
            code = body.get("code", code)
            if body.get("type") == "done":
                return str(code)
    raise aiohttp.ClientConnectionError


async def everybody_talks(
    herd: Herd, *, bots: int, sockets: int, turns: int, harm: Harm
) -> list[Talk]:
    """Let conversations run side by side while servers are harmed; return what each met."""
    # The limit of a channel is not what is tested here.
    async with (
        FakeConnector(messages_per_second=1_000) as channel,
        aiohttp.ClientSession() as client,
    ):
        by_bot = [Talk(f"teams-{number}", f"b{number}") for number in range(bots)]
        by_socket = [
            Talk(await new_chat(client, herd.any_url()), f"w{number}") for number in range(sockets)
        ]
        async with herd.harmed(harm):
            await asyncio.gather(
                *(talk_by_bot(herd, channel, talk, turns=turns) for talk in by_bot),
                *(talk_by_socket(herd, client, talk, turns) for talk in by_socket),
            )
        await asyncio.sleep(SETTLE_SECONDS)
        for talk in by_bot:
            # What no server lived long enough to deliver is delivered once all of them stay up.
            for words in list(talk.late):
                await _until(channel, talk, words)
            talk.heard = channel.texts(talk.conversation)
    return [*by_bot, *by_socket]
