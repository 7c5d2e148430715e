"""A conversation with the real team over the sample records, led by the offline rules."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from data_models.chat_context import AgentMessage, Turn
from data_models.clock import SystemClock
from data_models.conversations.plan import Plan
from data_models.conversations.turn_events import AgentMessageFinished
from data_models.identifiers import PatientId
from group_chat.models.factory import build_models
from group_chat.models.model_settings import ModelSettings
from group_chat.semantic_group_chat import SemanticGroupChat
from group_chat.turn_context import GroupChatLimits
from services.group_chat_port import GroupChatRequest
from services.language.reading import read
from services.language.utterance import Situation
from services.memory_blocks.recall import PatientPast
from services.records.resources.ports import PatientRecords
from services.team import Team, card_of
from tests.fakes import CountingIds
from tests.fakes_connected import connected_in
from tests.group_chat.team_world import (
    SAMPLES,
    Heard,
    MemoryArtifacts,
    RecordingWatcher,
    house_team,
)
from tests.services.records.charts import records_in

ROSTER = ("patient_15", "patient_4")
CARDS = tuple(map(card_of, house_team().agents))
SITUATION = Situation(now=datetime(2026, 11, 22, 12, tzinfo=UTC), team=tuple(CARDS))


@dataclass
class Conversation:
    """Keeps history and plan from turn to turn, as the pipeline does."""

    chat: SemanticGroupChat
    watcher: RecordingWatcher
    patient_id: str | None = "patient_4"
    artifacts: MemoryArtifacts = field(default_factory=MemoryArtifacts)
    plan: Plan | None = None
    held: tuple[str, ...] = ()
    turns: list[Turn] = field(default_factory=list)

    async def say(self, text: str, *, past: PatientPast | None = None) -> Heard:
        clock = SystemClock()
        team = tuple(self.chat.agents)
        before = [one.user_message for one in self.turns]
        situation = Situation(now=clock.now(), team=team, asked_before=before)
        request = GroupChatRequest(
            conversation_id="c1",
            run_id=f"run-{len(self.turns)}",
            patient_id=PatientId(self.patient_id) if self.patient_id else None,
            all_patient_ids=ROSTER,
            snapshot=snapshot(self.patient_id),
            history=list(self.turns),
            text=text,
            held=self.held,
            user="Dr Test",
            now=clock.now(),
            deadline=clock.monotonic() + 60,
            artifacts=self.artifacts,
            plan=self.plan,
            past=past,
            utterance=read(text, situation),
        )
        heard = Heard([event async for event in self.chat.run(request)])
        self.plan = heard.plan or self.plan
        self._keep(text, [event.message for event in heard.of(AgentMessageFinished)])
        return heard

    def _keep(self, text: str, messages: list[AgentMessage]) -> None:
        self.turns.append(
            Turn(
                turn_id=len(self.turns) + 1,
                run_id=f"run-{len(self.turns)}",
                timestamp=SystemClock().now(),
                user="Dr Test",
                user_message=text,
                agent_responses=messages,
                turn_status="COMPLETED",
            )
        )


def snapshot(patient_id: str | None) -> str:
    rows = [f'"{one}"' for one in ROSTER]
    active = f'"{patient_id}"' if patient_id else "null"
    return (
        f'PATIENT_CONTEXT_JSON: {{"conversation_id":"c1","patient_id":{active},'
        f'"all_patient_ids":[{",".join(rows)}],"generated_at":"2030-01-02T03:04:05Z"}}'
    )


def conversation(
    *,
    patient_id: str | None = "patient_4",
    team: Team | None = None,
    records: PatientRecords | None = None,
) -> Conversation:
    watcher = RecordingWatcher()
    clock = SystemClock()
    own = records or records_in(SAMPLES, clock)
    chat = SemanticGroupChat(
        team=team or house_team(),
        chat_model=build_models(settings=ModelSettings()).chat,
        records=own,
        clock=clock,
        ids=CountingIds(),
        limits=GroupChatLimits(),
        is_language_model=False,
        watcher=watcher,
        connected=connected_in(own, clock),
    )
    return Conversation(chat=chat, watcher=watcher, patient_id=patient_id)
