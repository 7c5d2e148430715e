"""A scheduler, a reader and a team that do as the real ones do, all in memory."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import UTC, date, datetime, tzinfo

from data_models import errors
from data_models.chart_view import ChartView, ViewRow
from data_models.chat_context import AgentMessage, Artifact, Attachment, ChatContext, Citation, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource, SystemClock
from data_models.conversations import turn_events
from data_models.conversations.incoming_message import IncomingMessage
from data_models.documents import Documents
from data_models.entities.derived_entities import Origin
from data_models.identifiers import PatientId
from data_models.memory_blocks import KeyPoint
from data_models.tool_memory import EntityContext, ToolExecutionContext
from services.chart_access.chart_guard import ChartGuard
from services.group_chat_port import GroupChat, GroupChatEvent, GroupChatRequest
from services.identity.directory import DirectoryState, Sought
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person, PersonName
from services.language.utterance import TeamMember
from services.memory_edits.operations import Operation, apply
from services.memory_edits.view import MemoryView, view_of
from services.records.resources.entry import Entry
from services.records.views.source import SourceText
from services.runs.hub import Run, RunHub
from services.scenarios.session.progress import ToolAction
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import SESSION, ConversationReader, OwnedChat
from services.views.conversation_view import (
    ConversationSummary,
    ConversationView,
    HistoryPage,
    Progress,
    RosterRow,
    RunningRow,
)
from services.views.owner_changes import AttachmentService, MemoryService
from services.views.patient_chart import PARTS, Identity, PatientChart
from services.views.patient_finder import FoundPatient, FoundPatients, PatientFinder
from services.views.visits_by_day import DaySeen, Seen
from tests.fakes import open_guard
from tests.fakes_store import MemoryBlobStore

QUEUE_DEPTH = 20
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
Script = Callable[[Run], Awaitable[None]]


def state(conversation_id: str, **changes: object) -> turn_events.SharedState:
    values: dict[str, object] = {
        "patient_id": "patient_4",
        "all_patient_ids": ("patient_4",),
        "patient_count": 1,
        "decision": "UNCHANGED",
        "facilitator": "Orchestrator",
        **changes,
    }
    return turn_events.SharedState(conversation_id=conversation_id, **values)  # type: ignore[arg-type]


def spoken(
    message_id: str, text: str, *, agent: str = "Orchestrator"
) -> list[turn_events.TurnEvent]:
    """The events of one agent message, in two deltas."""
    half = len(text) // 2
    message = AgentMessage(message_id=message_id, agent=agent, text=text, timestamp=NOW)
    return [
        turn_events.AgentMessageStarted(message_id=message_id, agent=agent),
        turn_events.AgentTextDelta(message_id=message_id, text=text[:half]),
        turn_events.AgentTextDelta(message_id=message_id, text=text[half:]),
        turn_events.AgentMessageFinished(message=message),
    ]


def answer(run: Run, text: str) -> list[turn_events.TurnEvent]:
    """The events of a whole turn that answers `text`."""
    return [
        turn_events.RunStarted(run_id=run.run_id, conversation_id=run.conversation_id),
        turn_events.StepStarted(step="decide"),
        turn_events.StateChanged(state=state(run.conversation_id)),
        turn_events.StepFinished(step="decide"),
        *spoken(f"{run.run_id}-m1", text),
        turn_events.RunFinished(outcome="success", timing=turn_events.TurnTiming(total_ms=1.5)),
    ]


def tell(run: Run, events: Iterable[turn_events.TurnEvent]) -> None:
    """Let so much happen in a run."""
    for event in events:
        run.emit(event)


class Held:
    """A script that repeats what was asked, and after `begins` events waits for its gate."""

    def __init__(self, *, begins: int = 1) -> None:
        self.gate = asyncio.Event()
        self._begins = begins

    async def __call__(self, run: Run) -> None:
        events = answer(run, f"You said: {run.message.text}")
        tell(run, events[: self._begins])
        await self.gate.wait()
        tell(run, events[self._begins :])


async def echo(run: Run) -> None:
    """The usual script: says what was asked."""
    for event in answer(run, f"You said: {run.message.text}"):
        await asyncio.sleep(0)
        run.emit(event)


class FakeScheduler(TurnScheduler):
    """A scheduler that runs a script for each message, one at a time per conversation."""

    def __init__(self, *, clock: Clock, ids: IdSource, script: Script = echo) -> None:
        self.script = script
        self.while_waiting = turn_events.Notice(
            "queued", "Your message waits for the running turn."
        )
        self.messages: list[IncomingMessage] = []
        self.owners: dict[str, str] = {}
        self.asked_to_stop: list[str | None] = []
        self._hub = RunHub(clock=clock)
        self._ids = ids
        self._runs: dict[tuple[str, str], Run] = {}
        self._queues: dict[str, list[Run]] = defaultdict(list)
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._drivers: set[asyncio.Task[None]] = set()

    async def submit(self, message: IncomingMessage) -> Run:
        if not message.text.strip():
            raise errors.EmptyMessageError
        if len(message.text) > 16_000:
            raise errors.MessageTooLongError(limit_chars=16_000)
        if self.owners.setdefault(message.conversation_id, message.owner) != message.owner:
            raise errors.NotFoundError
        key = (message.conversation_id, message.message_hash)
        if key in self._runs:
            return self._runs[key]
        running = self._queues[message.conversation_id]
        if len(running) > QUEUE_DEPTH:
            raise errors.TooManyMessagesError(waiting=QUEUE_DEPTH)
        run = self._hub.add(Run(run_id=self._ids.new_id("run"), message=message))
        if running:
            run.queued = True
            run.emit(self.while_waiting)
        self.messages.append(message)
        self._runs[key] = run
        running.append(run)
        if len(running) == 1:
            self._begin(run)
            driver = asyncio.create_task(self._play(running))
            self._drivers.add(driver)
            driver.add_done_callback(self._drivers.discard)
        return run

    def _begin(self, run: Run) -> None:
        self._turns[run.conversation_id] = asyncio.ensure_future(self.script(run))

    async def _play(self, running: list[Run]) -> None:
        while running:
            run = running[0]
            turn = self._turns[run.conversation_id]
            if run.stop_requested().done():
                turn.cancel()
            await asyncio.wait([turn])
            if turn.cancelled():
                run.emit(
                    turn_events.RunFinished(outcome="cancelled", timing=turn_events.TurnTiming())
                )
            else:
                turn.result()
            self._hub.note_end(run)
            running.pop(0)
            if running:
                self._begin(running[0])

    async def watch(self, conversation_id: str, run_id: str, *, owner: str) -> Run | None:
        run = self._hub.find(run_id)
        if run is None or run.conversation_id != conversation_id:
            return None
        return run if self.owners.get(conversation_id) == owner else None

    async def stop(self, conversation_id: str, *, owner: str, run_id: str | None = None) -> bool:
        running = self._queues[conversation_id]
        self.asked_to_stop.append(run_id)
        if not running or self.owners.get(conversation_id) != owner:
            return False
        run = next((one for one in running if run_id in (None, one.run_id)), None)
        if run is None or run is running[0]:
            return run is not None and self._turns[conversation_id].cancel()
        run.request_stop("cancelled")
        return True

    def last_run_id(self, conversation_id: str) -> str | None:
        ended = [run for run in self._runs.values() if run.conversation_id == conversation_id]
        return next((run.run_id for run in reversed(ended) if run.is_finished), None)

    def run_ids(self, conversation_id: str) -> set[str]:
        runs = self._runs.values()
        return {run.run_id for run in runs if run.conversation_id == conversation_id}

    def running(self, conversation_id: str) -> Run | None:
        running = self._queues[conversation_id]
        return running[0] if running else None

    async def close(self) -> None:
        """End what still runs, as the end of a test does."""
        for task in [*self._drivers, *self._turns.values()]:
            task.cancel()
        await asyncio.gather(*self._drivers, *self._turns.values(), return_exceptions=True)


TURNS = [
    Turn(
        turn_id=number,
        run_id=f"run_{number}",
        timestamp=NOW,
        user="Dr. Ada",
        user_message=f"question {number}\n# not a title",
        agent_responses=[
            AgentMessage(
                message_id=f"m{number}",
                agent="Radiology",
                text=f"answer {number}",
                timestamp=NOW,
                citations=[Citation(ref="DocumentReference/note-3", title="CT chest")],
            )
        ],
        turn_status="COMPLETED",
    )
    for number in range(1, 6)
]
REPORT = Artifact(
    artifact_id="artifact_1",
    file_name='Tumor board "β".docx',
    media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    size_bytes=4,
    created_at=NOW,
    run_id="run_1",
)


NOTE = SourceText(
    ref="DiagnosticReport/ct-1",
    kind="imaging report",
    title="CT chest",
    date="2023-11-02",
    author="Dr. Ray",
    text="CT chest with contrast.\n\nRight upper lobe mass of 3.1 cm.\nNo effusion.",
)


class FakeReader(ConversationReader):
    """A reader of conversations that belong to whom the scheduler says."""

    def __init__(
        self, *, scheduler: FakeScheduler, ids: IdSource, clock: Clock | None = None
    ) -> None:
        self._scheduler = scheduler
        self._ids = ids
        store, clock = MemoryBlobStore(), clock or SystemClock()
        documents = Documents(store=store, clock=clock, ids=ids)
        # The fields of a reader are frozen.
        vars(self).update(contexts=ChatContextAccessor(documents=documents), clock=clock)
        self.pages_of: list[str | None] = []
        self.turns = list(TURNS)
        self.page_turns = 2
        self.views: dict[str, ChartView] = {}
        self.receipts: dict[str, bytes] = {}
        self.closed: set[str | None] = set()

    async def create(self, *, owner: str) -> str:
        return self._ids.new_id("chat")

    async def list_of(self, *, owner: str) -> list[ConversationSummary]:
        owned = [name for name, other in self._scheduler.owners.items() if other == owner]
        return [
            ConversationSummary(
                chat_id=name,
                patient_ids=[PatientId("patient_4")],
                patients=[RosterRow(patient_id=PatientId("patient_4"), last_used_at=NOW)],
                created_at=NOW,
                updated_at=NOW,
            )
            for name in owned
        ]

    async def access(self, chat: OwnedChat, *, unclaimed_ok: bool = False) -> None:
        found = self._scheduler.owners.get(chat.chat_id)
        if chat.chat_id.startswith("..") or (found != chat.owner and found is not None):
            raise errors.NotFoundError
        if found is None and not unclaimed_ok:
            raise errors.NotFoundError

    async def is_web_conversation(self, conversation_id: str) -> bool:
        return not self._scheduler.owners.get(conversation_id, "bot:").startswith("bot:")

    async def view(self, chat: OwnedChat) -> ConversationView:
        await self.access(chat)
        run = self._scheduler.running(chat.chat_id)
        return ConversationView(
            chat_id=chat.chat_id,
            created_at=NOW,
            updated_at=NOW,
            patient_id=PatientId("patient_4"),
            patients=[RosterRow(patient_id=PatientId("patient_4"), last_used_at=NOW)],
            plan=None,
            artifacts=[],
            question=None,
            running_turn=RunningRow(run_id=run.run_id, started_at=NOW) if run else None,
            queued=0,
        )

    async def progress(self, chat: OwnedChat) -> Progress:
        await self.access(chat)
        run = self._scheduler.running(chat.chat_id)
        return Progress(
            running_run_id=run.run_id if run else None,
            last_run_id=self._scheduler.last_run_id(chat.chat_id),
        )

    async def messages(
        self, chat: OwnedChat, *, before: int | None = None, limit: int = 50
    ) -> HistoryPage:
        await self.access(chat)
        self.pages_of.append(chat.patient_id)
        if chat.patient_id not in (None, "patient_4"):
            raise errors.NotFoundError
        older = [turn for turn in self.turns if before is None or turn.turn_id < before]
        turns = older[-min(limit, self.page_turns) :]
        more = len(older) > len(turns)
        before = turns[0].turn_id if more else None
        return HistoryPage(
            patient_id=PatientId("patient_4"), turns=turns, next_before=before, views=self.views
        )

    async def document(self, chat: OwnedChat, action: str) -> ChatContext:
        await self.access(chat)
        if chat.patient_id == SESSION:
            return ChatContext(conversation_id=chat.chat_id, patient_id=None)
        whose = chat.patient_id or "patient_4"
        patient = await self.roster_member(chat._replace(patient_id=whose))
        runs = self._scheduler.run_ids(chat.chat_id)
        ran = [TURNS[0].model_copy(update={"run_id": one}) for one in runs]
        return ChatContext(
            conversation_id=chat.chat_id,
            patient_id=patient,
            chat_history=[*self.turns, *ran],
            next_turn_id=len(self.turns) + 1,
        )

    async def roster_member(self, chat: OwnedChat) -> PatientId | None:
        await self.access(chat)
        if chat.patient_id in self.closed:
            raise errors.ChartClosedError
        if chat.patient_id != "patient_4":
            raise errors.NotFoundError
        return PatientId(chat.patient_id)

    async def receipt(self, chat: OwnedChat, run_id: str) -> bytes:
        await self.access(chat)
        if run_id not in self.receipts:
            raise errors.NotFoundError("this turn left no receipt")
        return self.receipts[run_id]

    async def artifact(
        self, chat: OwnedChat, artifact_id: str, *, reader: str | None = None
    ) -> tuple[Artifact, bytes]:
        await self.access(chat)
        if (chat.patient_id, artifact_id) != ("patient_4", REPORT.artifact_id):
            raise errors.NotFoundError
        return REPORT, b"PK\x03\x04"


PEOPLE = (
    FoundPatient(patient_id="patient_4", name="Ada Example", birth_date="1950-02-03", sex="female"),
    FoundPatient(patient_id="patient_15", name="Ben Other", birth_date="1961-07-08", sex="male"),
)


class FakeFinder(PatientFinder):
    """Knows two people by their names."""

    def __init__(self, *, guard: ChartGuard | None = None) -> None:
        super().__init__(directory=FakePeople(), guard=guard or open_guard(clock=SystemClock()))

    async def find(self, text: str, *, owner: str) -> FoundPatients:
        if len(text) > 200:
            raise errors.BadFrameError("q: at most 200 characters")
        found = [one for one in PEOPLE if text.casefold() in one.name.casefold()]
        return FoundPatients(patients=found, is_whole=True)


class FakePeople:
    """A `Directory` of the same two, and a `VisitsByDay` of whom a test says."""

    state: DirectoryState = "ok"

    def __init__(self) -> None:
        self.index = PersonIndex(people=[_person(one) for one in PEOPLE])
        self.visits: list[Entry] = []

    async def people_for(self, sought: Sought) -> PersonIndex:
        return self.index

    async def check(self) -> None:
        """It answers."""

    async def visits_on(self, day: date, zone: tzinfo | None = None) -> DaySeen:
        found = [(self.index.with_id(whose_visit(one)), one) for one in self.visits]
        return DaySeen(tuple(Seen(person, one) for person, one in found if person is not None))


def whose_visit(entry: Entry) -> PatientId:
    return PatientId(str(entry.raw["subject"]["reference"]).removeprefix("Patient/"))


def _person(one: FoundPatient) -> Person:
    given, family = one.name.split()
    return Person(
        patient_id=PatientId(one.patient_id),
        key=one.patient_id,
        names=(PersonName(family=family, given=(given,), text=""),),
        birth_date=one.birth_date,
    )


def _value(number: float, date: str, flag: str = "") -> ViewRow:
    return ViewRow(
        kind="value", name="Potassium", value=str(number), number=number, unit="mmol/L",
        range="3.5 - 5.1", flag=flag, date=date, sources=("DiagnosticReport/ct-1",),
    )  # fmt: skip


CHART_PARTS: dict[str, tuple[ViewRow, ...]] = {
    "summary": (
        ViewRow(kind="fact", name="Allergies", value="Penicillin", detail="rash"),
        ViewRow(kind="fact", name="Problems", value="Lung cancer", date="2024-02"),
    ),
    "results": (_value(4.1, "2026-12-02"),),
    "problems": (ViewRow(kind="problem", name="Lung cancer", status="active", date="2024-02"),),
    "timeline": (
        ViewRow(
            kind="medication",
            name="Osimertinib",
            status="active",
            date="2024-03-20",
            value="80 mg",
            detail="prescribed",
        ),
        ViewRow(
            kind="problem", name="Pneumonia", status="resolved", date="2025-01", end="2025-02-03"
        ),
        ViewRow(kind="procedure", name="Biopsy", status="completed", date="2024-02-29"),
    ),
    "allergies": (
        ViewRow(kind="allergy", name="Penicillin (rash)", status="active"),
        ViewRow(kind="allergy", name="Latex", status="resolved"),
    ),
}


class FakeChart(PatientChart):
    """A small chart of patient_4 with one note; what it has no rows for says so."""

    def __init__(self, *, reader: FakeReader) -> None:
        self._reader = reader
        self.asked: list[str] = []

    async def demographics(self, chat: OwnedChat) -> Identity:
        await self._reader.access(chat)
        if chat.patient_id != "patient_4":
            raise errors.NotFoundError
        return Identity(
            patient_id=chat.patient_id, name="Ada Example", birth_date="1950-02-03", sex="female"
        )

    async def source(self, chat: OwnedChat, *, ref: str) -> SourceText:
        await self._reader.access(chat)
        if (chat.patient_id, ref) != ("patient_4", NOTE.ref):
            raise errors.NotFoundError
        return NOTE

    async def part(self, chat: OwnedChat, *, part: str, name: str = "") -> ChartView:
        await self._reader.access(chat)
        if chat.patient_id != "patient_4":
            raise errors.NotFoundError
        if part not in PARTS:
            raise errors.BadFrameError(f"part must be one of {', '.join(PARTS)}")
        self.asked.append(part)
        rows = CHART_PARTS.get(part, ())
        if name:
            rows = (_value(3.2, "2026-10-02", "low"), _value(3.4, "2026-11-02", "low"), *rows)
        return ChartView(
            view_id=f"view-{part}",
            patient_id=PatientId(chat.patient_id),
            tool=part,
            kind="series" if name else "timeline" if part == "timeline" else "table",
            title=name or part.capitalize(),
            rows=rows,
            nothing="" if rows else f"No {part} in the record.",
        )


class NoPapers(AttachmentService):
    """Nobody has given a paper of anybody."""

    async def all(self, chat: OwnedChat) -> list[Attachment]:
        return []


class FakeMemory(MemoryService):
    """Remembers a little of patient_4, in a document of its own."""

    def __init__(self, *, reader: FakeReader) -> None:
        self._reader = reader
        self._document = ChatContext(conversation_id="chat_1", patient_id=PatientId("patient_4"))
        self._fill(self._document)

    def _fill(self, document: ChatContext) -> None:
        wishes, findings = document.entities.conversation, document.entities.derived
        wishes.apply_delta({"doctor_preference": "Dr. Lindqvist"}, now=NOW)
        origin = Origin("available_slots", {"day": "Friday"})
        slots = {"available_slots": ["09:00", "09:30"]}
        findings.apply_delta("AppointmentManager", slots, now=NOW, origin=origin)
        document.memory.active_topic = "tumor_board"
        document.memory.key_points.append(
            KeyPoint(point_id="p1", text="Allergy: penicillin", turn_id=1)
        )
        document.tool_memory.executions.append(
            ToolExecutionContext(
                execution_id="exec_1", tool_name="available_slots",
                agent_name="AppointmentManager", user_request="a time on Friday?",
                parameters={"day": "Friday"}, result="2 slots", timestamp=NOW, turn_id=1,
            )
        )  # fmt: skip
        document.tool_memory.entities.append(
            EntityContext(
                entity_id="event-1", entity_type="calendar_event", source="calendar",
                display_name="Tumor board", data={"location": "Room 3"}, created_at=NOW,
                last_accessed=NOW, source_execution_id="exec_1",
            )
        )  # fmt: skip

    async def show(self, chat: OwnedChat) -> MemoryView:
        await self._reader.access(chat)
        if chat.patient_id not in (None, "patient_4"):
            raise errors.NotFoundError
        return view_of(self._document, now=NOW, summary="", blocks={})

    async def change(
        self, chat: OwnedChat, *, operations: Sequence[Operation], revision: str
    ) -> MemoryView:
        if (await self.show(chat)).revision != revision:
            raise errors.MemoryChangedError
        draft = self._document.model_copy(deep=True)
        apply(draft, operations, by=chat.owner, now=NOW)
        self._document = draft
        return await self.show(chat)


class FakeTeam(GroupChat):
    """A facilitator and one specialist; these tests ask them nothing."""

    agents = (
        TeamMember(name="Orchestrator", description="Plans and asks.", is_facilitator=True),
        TeamMember(name="Radiology", description="Reads images' reports.", is_facilitator=False),
    )
    facilitator = "Orchestrator"
    is_language_model = False

    def act(self, request: GroupChatRequest, action: ToolAction) -> AsyncIterator[GroupChatEvent]:
        raise NotImplementedError

    def run(self, request: GroupChatRequest) -> AsyncIterator[GroupChatEvent]:
        raise NotImplementedError
