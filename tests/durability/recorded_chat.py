"""One conversation with a whole server in this process, and all that its model was asked."""

import asyncio
import re
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import aiohttp
import orjson
from pydantic import SecretStr

from app import build
from data_models.chat_context import ChatContext
from data_models.clock import RandomIds, SystemClock
from data_models.conversations.incoming_message import IncomingMessage
from routes.requests.context import CONTEXT
from routes.serving import Server
from services.memory_edits.operations import Correct
from services.runs.hub import Run
from services.scenarios.operators.asked import Definition
from services.stores import Stores
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import OwnedChat
from settings import Settings
from tests.durability.asking import asking, looked_up
from tests.durability.evidence import Evidence
from tests.fakes_openai import FakeOpenAI, RecordedRequest, Reply, ToolCall
from tests.fakes_openai_brain import structured_answer
from tests.fakes_store import MemoryBlobStore
from tests.given import message_of

PATIENTS = ("patient_4", "patient_7", "patient_15", "patient_21", "patient_33")
SESSION = "session"
# Words that nobody takes for an id or a name: a message is about who is active, not about these.
_WORDS = {SESSION: SESSION, **{one: f"chart{chr(97 + n)}" for n, one in enumerate(PATIENTS)}}
_OWNERS = {word: owner for owner, word in _WORDS.items()}
CANARY = re.compile(rf"\b(?:user|agent)-canary-(?:{'|'.join(_OWNERS)})-[0-9]{{5}}\b")
Result = TypeVar("Result")
CHAT = "chat_machine"
# Who may be meant is the one thing of other patients that a model may be told (page 10.2).
_CANDIDATES = re.compile(r'\\"patients\\":\{.*?\},(?=\\"message\\")')
REMEMBER = "do you remember"
SCENARIO = Path("samples/scenarios/tumor_board_preparation.yaml").read_text("utf-8")


def owner_of(canary: str) -> str:
    """Return the patient in whose turn a canary was made, or the session."""
    return _OWNERS[canary.split("-")[2]]


def sent_in(request: RecordedRequest) -> str:
    """Return what a request tells of patients, besides the names of those who may be meant."""
    return _CANDIDATES.sub("", request.text)


class Conversation:
    """One conversation with a server in this process, and all that its model was asked."""

    def __init__(self, *, samples: Path = Path("samples")) -> None:
        self._samples = samples
        self._loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        self._numbers = count(1)
        self.sessions = MemoryBlobStore()
        self.audit = MemoryBlobStore()
        self.users = MemoryBlobStore()
        self._stores = Stores(self.sessions, self.users, self.audit)
        self._evidence: Evidence | None = None
        self._read: dict[str | None, tuple[ChatContext, frozenset[str]]] = {}
        self._server: Server | None = None
        self.active = SESSION
        self.archived: set[str] = set()
        self.spoken: set[str] = set()
        self.sent: list[tuple[str, str]] = []
        self.readings = self.recalls = 0
        self.record_words = _record_words()
        self.do(self._open())

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._loop.run_until_complete(asyncio.wait_for(work, 60))

    def close(self) -> None:
        self.do(self._stack.aclose())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    async def _open(self) -> None:
        self.model = await self._stack.enter_async_context(FakeOpenAI(brain=self._brain))
        session = await self._stack.enter_async_context(aiohttp.ClientSession())
        self._http = session
        self._folder = Path(self._stack.enter_context(TemporaryDirectory()))
        self._stack.push_async_callback(self._end)
        await self._start()

    async def _end(self) -> None:
        await self._gone(self._server)

    async def _gone(self, server: Server | None) -> None:
        if server is not None:
            await server.drain(5)
            await server.close()

    async def _start(self) -> None:
        chosen = Settings(
            llm_provider="openai",
            openai_base_url=self.model.base_url,
            openai_api_key=SecretStr("k"),
            bot_endpoints=False,
            data_dir=self._folder,
            samples_dir=self._samples,
            order_drafts=True,
            # On a busy machine whom a message names would be asked, and it is kept with nobody.
            directory_seconds=60.0,
        )
        server = build(
            chosen, stores=self._stores, clock=SystemClock(), ids=RandomIds(), session=self._http
        )
        await server.start()
        before, self._server = self._server, server
        await self._gone(before)
        scheduler = server.web[CONTEXT].scheduler
        assert isinstance(scheduler, TurnScheduler)
        self._scheduler = scheduler
        self._memory = server.web[CONTEXT].memory
        self._operators = server.web[CONTEXT].operators

    def restart(self) -> None:
        """A new process takes the place of this one, which has nothing under way."""
        self.do(self._start())

    def publish(self) -> None:
        """Let a scenario be begun."""
        assert self._operators is not None
        self.do(self._operators.of("ann").publish(Definition(definition=SCENARIO)))

    def canary(self, kind: str) -> str:
        # Of one width: a text that is cut short must not read as an earlier one.
        made = f"{kind}-canary-{_WORDS[self.active]}-{next(self._numbers):05}"
        self.spoken.add(made)
        return made

    def _brain(self, request: RecordedRequest) -> Reply:
        """Answer with a canary of whose turn it is; look into the record first, when offered."""
        self.sent.append((self.active, sent_in(request)))
        self.readings += "Sort a clinician's message" in request.text
        if "response_format" in request.body or "JSON Schema" in request.instructions:
            return Reply(text=_read(request))
        if (asked := asking(request, partial(self.canary, "agent"))) is not None:
            return asked
        said, last = request.said, request.messages[-1]
        is_result = last["role"] == "tool" and not looked_up(last)
        recalls = [name for name in request.tool_names if name.endswith("recall")]
        if recalls and REMEMBER in said and not is_result:
            self.recalls += 1
            return Reply(tool_calls=[ToolCall(recalls[0], {"query": "canary", "limit": 10})])
        timelines = [name for name in request.tool_names if name.endswith("timeline")]
        if timelines and not is_result:
            return Reply(tool_calls=[ToolCall(timelines[0], {})])
        return Reply(text=f"Noted: {self.canary('agent')}.")

    def message(self, text: str, message_id: str) -> IncomingMessage:
        now = SystemClock().now()
        return message_of(text, at=now, conversation_id=CHAT, message_id=message_id)

    async def _said(self, message: IncomingMessage, *, stop: bool) -> Run:
        run = await self._scheduler.submit(message)
        if stop:
            await asyncio.sleep(0.002)
            await self._scheduler.stop(CHAT, owner="alice")
        await run.wait()
        await self._scheduler.idle()
        return run

    def say(self, text: str, *, message_id: str | None = None, stop: bool = False) -> Run:
        name = message_id or f"m-{next(self._numbers)}"
        return self.do(self._said(self.message(text, name), stop=stop))

    async def _corrected(self, text: str) -> bool:
        assert self._memory is not None
        view = await self._memory.show(OwnedChat(CHAT, "alice", self.active))
        points = [one for one in view.understood if one.kind == "point" and one.can_correct]
        if not points:
            return False
        operations = [Correct(op="correct", item=points[-1].id, value=text)]
        await self._memory.change(
            OwnedChat(CHAT, "alice", self.active), operations=operations, revision=view.revision
        )
        return True

    def correct(self, text: str) -> bool:
        """Put a key point of the active patient right, as a person does; False without any."""
        return self.do(self._corrected(text))

    def canaries_in(self, context: ChatContext) -> frozenset[str]:
        """Return all canaries of a document; one that did not change is not read again."""
        known, found = self._read.get(context.patient_id, (None, frozenset()))
        if known is not context:
            found = frozenset(CANARY.findall(context.model_dump_json()))
            self._read[context.patient_id] = context, found
        return found

    @property
    def booked(self) -> dict[str, set[str]]:
        """What the clinic keeps of appointments: the canaries, by the patient it keeps them for."""
        found: dict[str, set[str]] = {}
        for name, data in self.users.contents.items():
            if "/Appointment/" in name:
                row = orjson.loads(data)
                keys = [each["actor"]["reference"] for each in row["participant"]]
                (key,) = [each for each in keys if each.startswith("Patient/")]
                patient = key.removeprefix("Patient/").replace("-", "_")
                found.setdefault(patient, set()).update(CANARY.findall(data.decode()))
        return found

    @property
    def mails_sent(self) -> int:
        return sum(name.endswith(".eml") for name in self.users.contents)

    @property
    def asks_for_a_yes(self) -> bool:
        """Whether a yes would book or send something now."""
        question = self.evidence.conversation.open_question
        return question is not None and question.kind == "destructive_tool"

    @property
    def evidence(self) -> Evidence:
        self._evidence = Evidence(self.sessions.contents, CHAT, before=self._evidence)
        return self._evidence


def _read(request: RecordedRequest) -> str:
    """Answer a question for JSON; one about a message's sense with all canaries that it showed.

    What a model was shown of one patient then stands in that patient's memory, and must stay there.
    """
    answer: dict[str, Any] = orjson.loads(structured_answer(request.body))
    if "standalone" in answer:
        shown = " ".join(dict.fromkeys(CANARY.findall(request.text)))
        answer |= {"standalone": f"User means {shown}" if shown else ""}
    return orjson.dumps(answer).decode()


def _record_words() -> dict[str, frozenset[str]]:
    """Return what only one sample patient's record holds: references, and the family name."""
    held: dict[str, set[str]] = {}
    for patient in PATIENTS:
        bundle = orjson.loads(Path(f"samples/patients/{patient}.json").read_bytes())
        resources = [entry["resource"] for entry in bundle["entry"]]
        row = next(each for each in resources if each["resourceType"] == "Patient")
        refs = {f"{each['resourceType']}/{each['id']}" for each in resources}
        held[patient] = {*refs, str(row["name"][0]["family"])}
    return {
        patient: frozenset(
            words.difference(*(others for other, others in held.items() if other != patient))
        )
        for patient, words in held.items()
    }
