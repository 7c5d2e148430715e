"""Several real servers on one storage account, some of them killed all the time, and who talks."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import orjson

from data_models.identifiers import storage_folder
from tests.durability.evidence import Evidence
from tests.e2e.models import running_model
from tests.e2e.server import Server
from tests.e2e.storage import AzureShelf, Stored
from tests.e2e.talks import new_chat
from tests.fakes_connector import FakeConnector
from tests.fakes_openai import RecordedRequest, Reply
from tests.fakes_openai_brain import brain

TURN_SECONDS = 60.0
RETRY_SECONDS = 0.3
_TOKEN = re.compile(r"note [a-z]\d+\.\d+!")
_GONE = (aiohttp.ClientError, ConnectionError, TimeoutError)


def heard(request: RecordedRequest) -> Reply:
    """Answer a note by its name, over half a second, so that kills meet turns."""
    if "response_format" in request.body:
        return brain(request)
    tokens = _TOKEN.findall(orjson.dumps(request.body["messages"]).decode())
    text = f"Heard {tokens[-1]}" if tokens else "Ready."
    return Reply(text=f"{text} {'It is noted. ' * 4}", chunk_chars=12, tokens_per_second=40.0)


@dataclass
class Herd:
    """The servers.

    Attributes:
        kills: How often one of them was killed.
    """

    servers: Sequence[Server]
    shelf: AzureShelf
    kills: int = 0
    _down: set[int] = field(default_factory=set)

    def any_url(self) -> str:
        """Return the address of a server that is up, as a balancer chooses one."""
        up = [each for number, each in enumerate(self.servers) if number not in self._down]
        return random.choice(up).url

    async def be_killed(self, *, every_seconds: float) -> None:
        """Kill one server after the other and start it again, until cancelled."""
        while True:
            await asyncio.sleep(every_seconds)
            number = random.randrange(len(self.servers))
            self._down.add(number)
            try:
                await asyncio.to_thread(self.servers[number].kill)
                self.kills += 1
                await asyncio.shield(asyncio.to_thread(self.servers[number].start))
            finally:
                self._down.discard(number)

    def evidence(self, conversation: str) -> Evidence:
        """Return what is stored of a conversation."""
        stored = Stored(self.shelf, conversation)
        folder = storage_folder(conversation)
        return Evidence(
            {f"{folder}/{name}": stored.read(name) for name in stored.names()}, conversation
        )


@contextmanager
def running_herd(folder: Path, account: str, *, size: int, **settings: str) -> Iterator[Herd]:
    """Run `size` servers on one account, with a model that takes its time."""
    with ExitStack() as stack:
        model = stack.enter_context(running_model(heard))
        shelf = AzureShelf(account)
        stack.callback(shelf.close)
        shared = {
            "AZURE_STORAGE_CONNECTION_STRING": account,
            "TURN_QUEUE": "rounds-turns",
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
        yield Herd(servers, shelf)


@dataclass
class Talk:
    """One conversation, and what its user met.

    Attributes:
        again: Messages that were sent again because the server died or asked for it.
        unheard: Answers that never reached the channel.
    """

    conversation: str
    name: str
    said: list[str] = field(default_factory=list)
    again: int = 0
    unheard: list[str] = field(default_factory=list)


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
        talk.unheard.append(words)


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
    async with client.ws_connect(address) as socket:
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


@dataclass(frozen=True)
class Report:
    """What came of all turns; what is not listed as wrong is right."""

    turns: int
    answered_once: int
    wrong: list[str]
    kills: int
    sent_again: int
    died_in_the_middle: int

    def __str__(self) -> str:
        lines = [
            f"turns                {self.turns}",
            f"answered once        {self.answered_once}",
            f"wrong                {len(self.wrong)}",
            f"servers killed       {self.kills}",
            f"messages sent again  {self.sent_again}",
            f"turns that died      {self.died_in_the_middle}",
        ]
        return "\n".join([*lines, *self.wrong])


def report_of(herd: Herd, talks: Sequence[Talk]) -> Report:
    """Compare what was said with what is stored."""
    wrong: list[str] = []
    once = died = 0
    for talk in talks:
        found = sorted(herd.evidence(talk.conversation).turns(), key=lambda one: one.turn.turn_id)
        notes = [one for one in found if one.turn.user_message.startswith("note ")]
        done = [one.turn for one in notes if one.turn.turn_status == "COMPLETED"]
        died += len(notes) - len(done)
        answers = Counter(turn.user_message for turn in done)
        once += sum(answers[text] == 1 for text in talk.said)
        wrong += [f"{text}: {answers[text]} answers" for text in talk.said if answers[text] != 1]
        wrong += [
            f"{turn.user_message}: answered with something else"
            for turn in done
            if f"Heard {turn.user_message}" not in turn.agent_responses[-1].text
        ]
        if [turn.user_message for turn in done] != talk.said and not wrong:
            wrong.append(f"{talk.name}: out of order")
        wrong += [
            f"{talk.name}: another patient" for one in found if one.patient_id == "patient_15"
        ]
    said = sum(len(talk.said) for talk in talks)
    again = sum(talk.again for talk in talks)
    return Report(said, once, wrong, herd.kills, again, died)


@asynccontextmanager
async def being_killed(herd: Herd, *, every_seconds: float) -> AsyncIterator[None]:
    """Have servers killed meanwhile; all are up after."""
    killing = asyncio.create_task(herd.be_killed(every_seconds=every_seconds))
    try:
        yield
    finally:
        killing.cancel()
        await asyncio.wait({killing})


async def everybody_talks(
    herd: Herd, *, bots: int, sockets: int, turns: int, kill_every_seconds: float
) -> Report:
    """Let conversations run side by side while servers die."""
    # The limit of a channel is not what is tested here.
    async with (
        FakeConnector(messages_per_second=1_000) as channel,
        aiohttp.ClientSession() as client,
    ):
        by_bot = [Talk(f"teams-{number}", f"b{number}") for number in range(bots)]
        by_socket = [
            Talk(await new_chat(client, herd.any_url()), f"w{number}") for number in range(sockets)
        ]
        async with being_killed(herd, every_seconds=kill_every_seconds):
            await asyncio.gather(
                *(talk_by_bot(herd, channel, talk, turns=turns) for talk in by_bot),
                *(talk_by_socket(herd, client, talk, turns) for talk in by_socket),
            )
        await asyncio.sleep(1.0)
    return report_of(herd, [*by_bot, *by_socket])
