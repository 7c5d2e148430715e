"""The real team over a real loopback model server and the sample records."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from data_models.chat_context import Artifact, Turn
from data_models.clock import SystemClock
from data_models.conversations.plan import Plan
from data_models.conversations.turn_events import AgentMessageFinished, AgentTextDelta
from data_models.identifiers import PatientId
from group_chat.models.factory import Models, build_models
from group_chat.models.model_settings import ModelProfile, ModelSettings
from group_chat.semantic_group_chat import SemanticGroupChat
from group_chat.tools.catalogue import TOOL_NAMES
from group_chat.tools.clinic.order_tools import OrderTools
from group_chat.tools.clinic.scheduling_tools import SchedulingTools
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from group_chat.tools.tool import ToolWatcher, file_derived
from group_chat.turn_context import GroupChatLimits, TurnContext
from services.audit.trail import NoAudit
from services.entities.session import StoredRun
from services.group_chat_port import ChatFinished, GroupChatEvent, GroupChatRequest, PlanChanged
from services.memory_blocks.recall import PatientArtifacts
from services.records.resources.ports import PatientRecords
from services.team import Team, load_team
from services.tool_memory.session import FinishedRun
from tests.fakes import CountingIds
from tests.fakes_connected import connected_in
from tests.fakes_openai import FakeOpenAI, Reply, ToolCall
from tests.given import present
from tests.services.records.charts import records_in

SAMPLES = Path(__file__).parents[2] / "samples" / "patients"
Event = TypeVar("Event")


class MemoryArtifacts(PatientArtifacts):
    """`PatientArtifacts` that keep what they are given."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    async def save(self, *, file_name: str, media_type: str, data: bytes, key: str) -> Artifact:
        self.files[file_name] = data
        return Artifact(
            artifact_id=f"artifact-{len(self.files)}",
            file_name=file_name,
            media_type=media_type,
            size_bytes=len(data),
            created_at=SystemClock().now(),
            run_id="run",
        )


class RecordingWatcher(ToolWatcher):
    """Keeps what it was told, and files what a run derives."""

    def __init__(self) -> None:
        super().__init__(audit=NoAudit())
        self.runs: list[FinishedRun] = []
        self.refused: list[tuple[str | None, str]] = []

    async def note_run(self, turn: TurnContext, run: FinishedRun) -> None:
        file_derived(turn, run, StoredRun(""))
        self.runs.append(run)

    async def note_refused_patient(self, turn: TurnContext, tool: str) -> None:
        self.refused.append((turn.request.patient_id, tool))


class Heard:
    """The events of one turn."""

    def __init__(self, events: Sequence[GroupChatEvent]) -> None:
        self.events = events

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(e.message.agent, e.message.text) for e in self.of(AgentMessageFinished)]

    @property
    def speakers(self) -> list[str]:
        return [agent for agent, _ in self.said]

    @property
    def plan(self) -> Plan | None:
        changes = self.of(PlanChanged)
        return changes[-1].plan if changes else None

    @property
    def reason(self) -> str:
        finished = self.events[-1]
        assert isinstance(finished, ChatFinished)
        return finished.reason

    def text_of_deltas(self, message_id: str) -> str:
        return "".join(e.text for e in self.of(AgentTextDelta) if e.message_id == message_id)


@cache
def house_team() -> Team:
    """The team as it is delivered, read once."""
    return load_team(tools=TOOL_NAMES)


class TeamWorld:
    """Builds the team once; every turn goes over real HTTP to `model`."""

    def __init__(
        self,
        *,
        team: Team | None = None,
        records: PatientRecords | None = None,
        limits: GroupChatLimits | None = None,
        clinic: SchedulingTools | None = None,
        window_tokens: int | None = None,
        evidence: EvidenceTools | None = None,
        foreign: ForeignTools | None = None,
        orders: OrderTools | None = None,
    ) -> None:
        self.clock = SystemClock()
        self.model = FakeOpenAI()
        self.watcher = RecordingWatcher()
        self.artifacts = MemoryArtifacts()
        self._team = team or house_team()
        self._records = records or records_in(SAMPLES, self.clock)
        self._window_tokens = window_tokens
        self._limits = limits or GroupChatLimits(window_tokens=lambda: window_tokens)
        given = {"clinic": clinic, "evidence": evidence, "foreign": foreign, "orders": orders}
        self._connected = connected_in(self._records, self.clock, **given)
        self._models: Models | None = None
        self._chat: SemanticGroupChat | None = None

    @property
    def chat(self) -> SemanticGroupChat:
        return present(self._chat)

    async def __aenter__(self) -> Self:
        await self.model.__aenter__()
        self._models = build_models(
            settings=ModelSettings(
                provider="openai",
                url=self.model.base_url,
                model="test-model",
                api_key="none",
                profile=ModelProfile(window_tokens=self._window_tokens),
            )
        )
        self._chat = SemanticGroupChat(
            team=self._team,
            chat_model=self._models.chat,
            records=self._records,
            clock=self.clock,
            ids=CountingIds(),
            limits=self._limits,
            is_language_model=True,
            watcher=self.watcher,
            connected=self._connected,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await present(self._models).close()
        await self.model.__aexit__(kind, error, trace)

    def request(self, text: str, **changes: Any) -> GroupChatRequest:
        given: dict[str, Any] = {
            "snapshot": 'PATIENT_CONTEXT_JSON: {"patient_id":"patient_4"}',
            "user": "Dr. A",
            "now": self.clock.now(),
            "deadline": self.clock.monotonic() + 60,
            "artifacts": self.artifacts,
        }
        return request_of(text, **{**given, **changes})

    async def say(self, text: str, *replies: Reply, **changes: Any) -> Heard:
        """Run a turn that uses up `replies`."""
        self.model.queue(*replies)
        heard = Heard([event async for event in self.chat.run(self.request(text, **changes))])
        self.model.assert_finished()
        return heard

    def prompts(self) -> list[list[dict[str, Any]]]:
        """Every list of messages that the model server was sent."""
        return [request.messages for request in self.model.requests]


def request_of(text: str, *, now: datetime, **changes: Any) -> GroupChatRequest:
    """Return what Alice asks of patient_4, unless `changes` say otherwise."""
    given: dict[str, Any] = {
        "conversation_id": "c1",
        "run_id": "run_1",
        "patient_id": PatientId("patient_4"),
        "all_patient_ids": ("patient_4",),
        "snapshot": "",
        "history": (),
        "user": "Alice",
        "deadline": 0.0,
        "artifacts": MemoryArtifacts(),
    }
    return GroupChatRequest(**{**given, **changes}, text=text, now=now)


@asynccontextmanager
async def team_world(**changes: Any) -> AsyncIterator[TeamWorld]:
    async with TeamWorld(**changes) as world:
        yield world


def earlier_turn(number: int, user: str, *said: tuple[str, str]) -> Turn:
    """A finished turn as the document holds it."""
    now = SystemClock().now().isoformat()
    rows = [
        {"message_id": f"m{number}-{index}", "agent": agent, "text": text, "timestamp": now}
        for index, (agent, text) in enumerate(said)
    ]
    return Turn.model_validate(
        {
            "turn_id": number,
            "run_id": f"run-{number}",
            "timestamp": now,
            "user": "Dr. A",
            "user_message": user,
            "agent_responses": rows,
            "turn_status": "COMPLETED",
        }
    )


def call(name: str, **arguments: Any) -> Reply:
    """A reply that calls one tool."""
    return Reply(text=None, tool_calls=[ToolCall(f"rounds-{name}", arguments)])


def text(words: str) -> Reply:
    return Reply(text=words)


def propose(*steps: tuple[str, str]) -> Reply:
    return call("propose_plan", steps=[{"agent": agent, "text": task} for agent, task in steps])
