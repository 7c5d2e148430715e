"""A server is killed right after its tools changed something; what comes next changes it no more.

Calendars, mail, tasks and contacts at a Microsoft Graph of the tests and in files of our own,
appointments on an independent FHIR server.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from data_models.clock import SystemClock
from data_models.identifiers import storage_folder
from scripts.test_tools import NODE_HOME
from tests import peers
from tests.durability.evidence import Evidence
from tests.e2e.beside import running_beside
from tests.e2e.models import ModelServer, running_model
from tests.e2e.server import Server, running_server
from tests.e2e.storage import Stored, StoredBlobs, StoredFiles, StoredInAzure
from tests.e2e.talks import BotTalk, PlainTalk, new_chat, socket_to
from tests.e2e.test_booking_on_fhir import AGENT, FHIR_SERVER
from tests.fakes_connector import USER, FakeConnector
from tests.fakes_graph import FakeGraph
from tests.fakes_openai import RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import structured_answer
from tests.services.scheduling.clinics import fill, found
from tests.waiting import until

pytestmark = pytest.mark.slow

ADA = "ada@clinic.example"
ASKED = "please remember the board: phone or call them (lab@x.example), say hello, at 15:00"
LONG = Reply(
    text="".join(f"Row {row} is noted. " for row in range(170)),
    chunk_chars=17,
    tokens_per_second=5.0,
)
FIRST = "*Secretary*, please remember this."
SECONDS = 60.0
# A claim of a dead process is waited for; whoever lives has a few seconds to renew it.
SHORT_CLAIMS = {"CLAIM_SECONDS": "8", "CLAIM_RENEW_SECONDS": "2", "CLAIM_GRACE_SECONDS": "1"}
_SERVERS = re.compile(r"<<(DATA|SERVER) (\w+)>>.*?<<END \2>>", re.DOTALL)


@dataclass
class TwoAttempts:
    """A model that hands over, changes four things, and begins to speak; then other words for it.

    Attributes:
        words: What it calls the things; another attempt of a language model words them otherwise.
        said: What it says when the tools have run.
        led: How often the facilitator was asked.
    """

    words: str = "Call the lab"
    said: Reply = LONG
    led: int = 0
    noted: list[str] = field(default_factory=list)

    def __call__(self, request: RecordedRequest) -> Reply:
        if "response_format" in request.body:
            return Reply(text=structured_answer(request.body))
        said = [str(one["content"]) for one in request.messages if one["role"] == "user"]
        # What the server says stands in a message of its own where an answer stands between.
        words = [own for one in said if (own := _SERVERS.sub("", one).strip())]
        if ASKED not in words[-1]:
            return Reply(text="Let us go on.")
        tools = {name.rpartition("-")[2]: name for name in request.tool_names}
        if "add_task" not in tools:
            self.led += 1
            return Reply(text=FIRST)
        if request.messages[-1]["role"] == "tool":
            self.noted = [str(one["content"]) for one in request.messages if one["role"] == "tool"]
            return self.said
        return Reply(
            text=None, tool_calls=[ToolCall(tools[name], each) for name, each in self._calls]
        )

    @property
    def _calls(self) -> list[tuple[str, dict[str, Any]]]:
        day = SystemClock().now().date() + timedelta(days=1)
        return [
            ("add_task", {"title": self.words}),
            ("add_contact", {"name": f"Lab ({self.words})"}),
            ("draft_mail", {"to": ["lab@x.example"], "title": self.words, "text": "Hello."}),
            ("create_event", {"title": self.words, "start": f"{day}T15:00"}),
        ]

    def speak_otherwise(self) -> None:
        self.words, self.said = "Phone the laboratory", Reply(text="It is all noted.")


@pytest.fixture
def attempts() -> TwoAttempts:
    return TwoAttempts()


@pytest.fixture
def model(attempts: TwoAttempts) -> Iterator[ModelServer]:
    with running_model(attempts) as server:
        yield server


async def die_and_come_back(server: Server) -> None:
    """Kill the server, and start another one in its place, beside the loop."""
    server.kill()
    await asyncio.to_thread(server.start)


def evidence(stored_blobs: StoredBlobs, chat: str) -> Evidence:
    stored = Stored(stored_blobs, chat)
    contents = {f"{storage_folder(chat)}/{name}": stored.read(name) for name in stored.names()}
    return Evidence(contents, chat)


def answers(stored_blobs: StoredBlobs, chat: str) -> list[tuple[str, list[str]]]:
    """Return the status and the answers of every turn in which the user asked that."""
    turns = [each.turn for each in evidence(stored_blobs, chat).saying(ASKED)]
    return [(turn.turn_status, [one.text for one in turn.agent_responses]) for turn in turns]


async def test_the_next_replica_ends_the_answer_and_repeats_no_change(
    model: ModelServer, attempts: TwoAttempts, azurite_account: str, tmp_path: Path
) -> None:
    graph, stored_blobs = FakeGraph(), StoredInAzure(azurite_account)
    ada = graph.user(ADA)
    with running_beside(graph):
        settings = {
            "AZURE_STORAGE_CONNECTION_STRING": azurite_account,
            "TURN_QUEUE": "done-once",
            **SHORT_CLAIMS,
            **graph.settings(**{f"bot:emulator:{USER['id']}": ADA}),
            **model.settings(),
        }
        with running_server(tmp_path, **settings) as server:
            async with FakeConnector(messages_per_second=1_000) as channel:
                talk = BotTalk("19:done-once@thread.tacv2", channel, server.url)
                await talk.say("start with patient_4", last_words="like to review?")
                await channel.say(server.url, ASKED, conversation=talk.conversation)

                def has_all_but_an_answer() -> bool:
                    made = (ada.tasks, ada.contacts, ada.messages, ada.events)
                    begun = answers(stored_blobs, talk.conversation)
                    return all(made) and begun == [("IN_PROGRESS", [FIRST])]

                await until(has_all_but_an_answer)
                attempts.speak_otherwise()
                await die_and_come_back(server)
                before = len(channel.activities(talk.conversation))
                talk.url = server.url
                await channel.say(server.url, "what comes next?", conversation=talk.conversation)
                await talk.answer(before, last_words="go on.")

                assert {
                    "tasks": [one["title"] for one in ada.tasks.values()],
                    "contacts": [one["displayName"] for one in ada.contacts.values()],
                    "mail": [one["subject"] for one in ada.messages.values()],
                    "events": [one["subject"] for one in ada.events.values()],
                } == {
                    "tasks": ["Call the lab"],
                    "contacts": ["Lab (Call the lab)"],
                    "mail": ["Call the lab"],
                    "events": ["Call the lab"],
                }
                assert all("Call the lab" in one for one in attempts.noted)
                assert attempts.led == 1
                ((status, said),) = answers(stored_blobs, talk.conversation)
                assert (status, said[0], said[1][:16]) == ("COMPLETED", FIRST, "It is all noted.")
                texts = "\n".join(channel.texts(talk.conversation))
                assert texts.count("It is all noted.") == 1
                # What went out and was not noted before the kill comes again, and says so.
                marked = "or you have seen it already" in texts
                assert 1 <= texts.count("please remember this.") <= 1 + marked
    stored_blobs.close()
    assert graph.faults == []


async def test_who_says_the_same_again_has_it_done_once_and_is_told_to_check(
    model: ModelServer, attempts: TwoAttempts, tmp_path: Path
) -> None:
    with running_server(tmp_path, **model.settings()) as server:
        async with aiohttp.ClientSession() as client:
            chat = await new_chat(client, server.url)
            async with socket_to(client, server.url, chat) as socket:
                await PlainTalk(chat, socket).say("start with patient_4")
                await socket.send_json({"content": ASKED})
                await until(lambda: "Call the lab" in own(server, "calendar.ics"))
                server.kill()
            await asyncio.to_thread(server.start)
            attempts.said = Reply(text="It is all noted.")
            async with socket_to(client, server.url, chat) as socket:
                answer = await PlainTalk(chat, socket).say(f"  {ASKED} ")
    assert answer.notices[0] == "interrupted"
    assert answer.text.count("It is all noted.") == 1
    assert {
        name: len(re.findall("Call the lab", own(server, name)))
        for name in ("tasks.json", "contacts.json", "mail.json", "calendar.ics")
    } == {"tasks.json": 1, "contacts.json": 1, "mail.json": 1, "calendar.ics": 1}
    statuses = [status for status, _ in answers(StoredFiles(server.data), chat)]
    assert sorted(statuses) == ["COMPLETED", "FAILED"]


def own(server: Server, name: str) -> str:
    files = (server.data / "chat-users").rglob(name)
    return "".join(path.read_text("utf-8") for path in files).replace("\r\n ", "")


class DeadlyRecords:
    """Passes requests on to a FHIR server; once an appointment is filed, `kill` is called."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.kill: Callable[[], None] | None = None
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._pass_on)
        self._server = TestServer(app, host="127.0.0.1")

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.close()

    @property
    def base_url(self) -> str:
        return str(self._server.make_url("/")).rstrip("/")

    async def _pass_on(self, request: web.Request) -> web.Response:
        kept = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in ("host", "content-length")
        }
        target = f"{self._url}{request.raw_path}"
        async with (
            aiohttp.ClientSession() as client,
            client.request(
                request.method, target, data=await request.read(), headers=kept
            ) as answer,
        ):
            body = await answer.read()
        if request.method == "POST" and request.path == "/Appointment" and self.kill is not None:
            self.kill()
            self.kill = None
        return web.Response(body=body, status=answer.status, content_type=answer.content_type)


async def test_a_yes_that_a_server_died_over_books_no_second_time(tmp_path: Path) -> None:
    peers.node_module("@medplum/fhir-router", "fhir-router")
    arguments: list[str | Path] = ["--experimental-websocket", FHIR_SERVER, NODE_HOME]
    with peers.running_node(arguments, folder=tmp_path, ready=r"listening on (\S+)\n") as fhir:
        today = SystemClock().now().date()
        await fill(fhir, [today + timedelta(days=number) for number in range(3)])
        records = DeadlyRecords(fhir)
        with (
            running_beside(records),
            running_server(
                tmp_path / "server", LLM_PROVIDER="offline", FHIR_BASE_URL=records.base_url
            ) as server,
        ):
            async with aiohttp.ClientSession() as client:
                chat = await new_chat(client, server.url)
                async with socket_to(client, server.url, chat) as socket:
                    talk = PlainTalk(chat, socket)
                    await talk.say("patient_4")
                    asked = await talk.say(f"@{AGENT} I want Dr. Smith tomorrow at 3")
                    assert asked.text.endswith("15:00? yes / no")
                    records.kill = server.kill
                    await socket.send_json({"content": "yes"})
                    assert (await socket.receive()).type is not aiohttp.WSMsgType.TEXT
                await until(lambda: records.kill is None)
                await asyncio.to_thread(server.start)
                async with socket_to(client, server.url, chat) as socket:
                    talk = PlainTalk(chat, socket)
                    again = await talk.say("yes")
                    assert again.notices[0] == "interrupted"
                    assert "Booked" not in again.text
                    listed = await talk.say(f"@{AGENT} show my appointments")
                    assert "15:00" in listed.text
                appointments = await found(client, fhir, "Appointment")
    assert [one["status"] for one in appointments] == ["booked"]
