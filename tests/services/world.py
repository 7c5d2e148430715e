"""The services around a store and a scripted team, as `app.py` builds them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry

from data_models.chat_context import AgentMessage
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource, RandomIds, SystemClock
from data_models.conversations import turn_events
from data_models.conversations.claim_decision import ClaimTimes
from data_models.conversations.conversation_accessor import (
    ComparisonAccessor,
    ConversationAccessor,
    OwnerIndex,
)
from data_models.conversations.incoming_message import IncomingMessage, Press, Sender
from data_models.documents import Documents
from data_models.errors import ModelOutputError
from data_models.patient_context_models import PatientContextRegistryAccessor
from data_models.storage.blob_store import BlobStore
from data_models.storage.counting_blob_store import CountingBlobStore
from services.audit.trail import Audit, AuditTrail
from services.basis import Replica
from services.chart_access.chart_guard import ChartGuard
from services.conversations.claimant import Claimant
from services.conversations.clearing import Clearing
from services.conversations.earlier_turns import LegacyHistory, StoredAnswers, Takeover
from services.group_chat_port import (
    ActionFinished,
    ChatFinished,
    GroupChat,
    GroupChatEvent,
    GroupChatRequest,
)
from services.identity.linking import SubjectLinker
from services.language.crisis.rules import load_rules
from services.language.reader import ReaderTeam
from services.language.utterance import TeamMember
from services.model_port import Answer, StructuredModel
from services.patient_context.reading.analyzer import PatientContextAnalyzer
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.service import PatientContextService
from services.runs.hub import Run, RunHub, StopRequests
from services.scenarios.session.progress import ToolAction, ToolRan
from services.telemetry.metrics import Metrics
from services.tool_memory.personal import PersonalToolMemories
from services.turn.access import TurnAccess, TurnLooks
from services.turn.answers.safety import SafetyAnswers
from services.turn.documents import TurnDocuments
from services.turn.memory import TurnMemory
from services.turn.tools import TurnTools
from services.turn_pipeline import TurnPipeline
from services.turn_scheduler.conversation_worker import ConversationWorker
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.turn_scheduler.turn_slots import TurnSlots
from services.views.conversation_reader import ConversationReader
from tests.fakes import open_guard
from tests.fakes_store import MemoryBlobStore
from tests.services.turn_tools import turn_tools

OWNER = "alice"
CHAT = "chat_1"
_PATTERN = PatientIdPattern.compile("^patient_[0-9]+$")
_SAFETY = SafetyAnswers(rules=load_rules())
ENDLESS = "…"
"""A text that ends so is begun and never finished."""


class FarReplica(Replica):
    """A process of another machine: nobody can tell whether it is dead, and it cannot either."""

    def is_dead(self, name: str) -> bool:
        return False


class NoModel:
    """A classifier that never has a usable answer: what follows is decided by rules."""

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        raise ModelOutputError


class EchoTeam:
    """A team of one that repeats what it was told, and keeps every request it was shown."""

    agents: Sequence[TeamMember] = (
        TeamMember("Orchestrator", description="Leads.", is_facilitator=True),
    )
    facilitator = "Orchestrator"
    is_language_model = True

    def __init__(self, *, clock: Clock, ids: IdSource) -> None:
        self._clock = clock
        self._ids = ids
        self.requests: list[GroupChatRequest] = []
        self.actions: list[ToolAction] = []
        self.broken_tools: set[str] = set()
        self.say: Callable[[GroupChatRequest], Sequence[str]] = lambda request: (
            f"Heard: {request.text}",
        )
        self.also: Callable[[GroupChatRequest], Sequence[GroupChatEvent]] = lambda request: ()
        self.first: Callable[[GroupChatRequest], Awaitable[None]] = _nothing
        """What its tools do before it speaks."""
        self.gate = asyncio.Event()
        """The team speaks only while this is set; so a turn can be held in its middle."""
        self.gate.set()

    async def act(
        self, request: GroupChatRequest, action: ToolAction
    ) -> AsyncIterator[GroupChatEvent]:
        self.actions.append(action)
        yield ActionFinished(ToolRan(action.tool not in self.broken_tools))

    async def run(self, request: GroupChatRequest) -> AsyncIterator[GroupChatEvent]:
        self.requests.append(request)
        await self.gate.wait()
        await self.first(request)
        for text in self.say(request)[len(request.said) :]:
            message_id = self._ids.new_id("msg")
            yield turn_events.AgentMessageStarted(message_id, self.facilitator)
            yield turn_events.AgentTextDelta(message_id, text)
            if text.endswith(ENDLESS):
                await asyncio.Event().wait()
            now = self._clock.now()
            yield turn_events.AgentMessageFinished(
                AgentMessage(
                    message_id=message_id, agent=self.facilitator, text=text, timestamp=now
                )
            )
        for event in self.also(request):
            yield event
        yield ChatFinished("answered")


async def _nothing(_: GroupChatRequest) -> None:
    """A team that calls no tool."""


@dataclass
class World:
    """One replica on `sessions`; several worlds may share stores."""

    sessions: BlobStore = field(default_factory=MemoryBlobStore)
    users: BlobStore = field(default_factory=MemoryBlobStore)
    audit_store: BlobStore = field(default_factory=MemoryBlobStore)
    guard: ChartGuard | None = None
    clock: Clock = field(default_factory=SystemClock)
    ids: IdSource = field(default_factory=RandomIds)
    times: ClaimTimes = field(default_factory=ClaimTimes)
    audit: Audit | None = None
    replica: Replica = field(default_factory=Replica)
    linker: SubjectLinker | None = None
    queue_depth: int = 20
    is_promised: bool = False
    slots: TurnSlots = field(default_factory=TurnSlots)
    safety: SafetyAnswers = _SAFETY
    memory: TurnMemory | None = None
    tools: TurnTools | None = None
    look_seconds: float = 1.0
    group_chat: GroupChat | None = None
    decider: StructuredModel = field(default_factory=NoModel)
    cards: Sequence[TeamMember] = ()

    def __post_init__(self) -> None:
        clock, ids = self.clock, self.ids
        self.team = EchoTeam(clock=clock, ids=ids)
        self.trail = audit = self.audit or AuditTrail(
            store=self.audit_store, replica="r1", clock=clock
        )
        documents = Documents(
            store=CountingBlobStore(self.sessions, clock=clock), clock=clock, ids=ids
        )
        self.conversations = ConversationAccessor(documents=documents)
        self.registries = PatientContextRegistryAccessor(documents=documents)
        self.contexts = ChatContextAccessor(documents=documents)
        owners = OwnerIndex(store=self.users)
        guard = self.guard or open_guard(clock=clock, audit=audit)
        group_chat = self.group_chat or self.team
        names = [one.name for one in group_chat.agents]
        pipeline = TurnPipeline(
            documents=TurnDocuments(
                contexts=self.contexts,
                registries=self.registries,
                legacy=LegacyHistory(store=self.sessions, contexts=self.contexts),
                comparisons=ComparisonAccessor(documents=documents),
                personal=PersonalToolMemories(store=self.users),
                access=TurnAccess(guard=guard, model=""),
                clock=clock,
                memory=self.memory or TurnMemory(clock=clock),
                looks=TurnLooks(),
            ),
            patients=PatientContextService(
                analyzer=PatientContextAnalyzer(
                    model=self.decider, pattern=_PATTERN, team=ReaderTeam((*self.cards,))
                ),
                pattern=_PATTERN,
                clock=clock,
                ids=ids,
                linker=self.linker,
                guard=guard,
            ),
            clearing=Clearing(store=documents.store, contexts=self.contexts),
            group_chat=group_chat,
            metrics=Metrics(registry=CollectorRegistry()),
            clock=clock,
            ids=ids,
            turn_seconds=60,
            safety=self.safety,
            tools=self.tools or turn_tools(clock=clock, ids=ids, agents=names),
        )
        self.claimant = claimant = Claimant(
            conversations=self.conversations,
            registries=self.registries,
            takeover=Takeover(contexts=self.contexts, registries=self.registries),
            owners=owners,
            replica=self.replica,
            clock=clock,
            times=self.times,
            queue_depth=self.queue_depth,
            is_promised=lambda _: self.is_promised,
        )
        hub = RunHub(clock=clock)
        answers = StoredAnswers(
            contexts=self.contexts,
            conversations=self.conversations,
            registries=self.registries,
            clock=clock,
            ids=ids,
            facilitator="Orchestrator",
        )
        stops = StopRequests(
            conversations=self.conversations,
            store=self.users,
            replica=self.replica.name,
            look_seconds=self.look_seconds,
        )
        self.scheduler = TurnScheduler(
            driver=ConversationWorker(
                pipeline=pipeline,
                claimant=claimant,
                answers=answers,
                hub=hub,
                slots=self.slots,
                stops=stops,
            ),
            ids=ids,
        )
        self.reader = ConversationReader(
            conversations=self.conversations,
            registries=self.registries,
            contexts=self.contexts,
            owners=owners,
            clock=clock,
            ids=ids,
            guard=guard,
        )

    def message(
        self,
        text: str,
        *,
        message_id: str | None = None,
        owner: str = OWNER,
        chat: str = CHAT,
        press: Press | None = None,
        seen_patient_id: str | None = None,
    ) -> IncomingMessage:
        """Return a web message as a transport makes it."""
        return IncomingMessage(
            conversation_id=chat,
            channel="web",
            channel_id="web",
            owner=owner,
            sender=Sender(principal_id=owner, display_name=owner.title()),
            message_id=message_id or self.ids.new_id("m"),
            text=text,
            received_at=self.clock.now(),
            press=press,
            seen_patient_id=seen_patient_id,
        )

    async def submit(self, text: str, *, message_id: str | None = None, chat: str = CHAT) -> Run:
        """Hand a message in and return its run."""
        return await self.scheduler.submit(self.message(text, message_id=message_id, chat=chat))

    async def hold(self, text: str, *, message_id: str | None = None, chat: str = CHAT) -> Run:
        """Hand a message in whose turn stands still before the team until its gate opens."""
        self.team.gate.clear()
        return await self.submit(text, message_id=message_id, chat=chat)

    async def say(
        self,
        text: str,
        *,
        message_id: str | None = None,
        chat: str = CHAT,
        seen_patient_id: str | None = None,
    ) -> "Heard":
        """Hand a message in and wait for its end."""
        message = self.message(
            text, message_id=message_id, chat=chat, seen_patient_id=seen_patient_id
        )
        return await heard(await self.scheduler.submit(message))

    async def tell(self, text: str, **more: str) -> "Heard":
        """Hand a message in and wait until nothing is left to do behind its end either."""
        said = await self.say(text, **more)
        await self.scheduler.idle()
        return said


@dataclass(frozen=True)
class Heard:
    """What came of one message."""

    run: Run
    events: tuple[turn_events.TurnEvent, ...]

    @property
    def texts(self) -> list[str]:
        """What the agents said."""
        return [
            e.message.text for e in self.events if isinstance(e, turn_events.AgentMessageFinished)
        ]

    @property
    def end(self) -> turn_events.RunFinished | turn_events.RunFailed:
        """The last event."""
        last = self.events[-1]
        assert isinstance(last, turn_events.RunFinished | turn_events.RunFailed)
        return last


async def heard(run: Run) -> Heard:
    """Follow `run` to its end."""
    return Heard(run, tuple([event async for _, event in run.events()]))
