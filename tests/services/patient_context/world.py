"""A patient context service and all that it stands on, in memory."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from data_models.chat_context import ChatContext
from data_models.conversations.conversation import OpenQuestion
from data_models.conversations.incoming_message import Press
from data_models.errors import ModelError
from data_models.identifiers import PatientId
from data_models.patient_context_models import (
    AnalyzerAction,
    PatientContext,
    PatientContextDecision,
    Registry,
    TimingInfo,
)
from services.audit.trail import Audit, NoAudit
from services.chart_access.break_glass import BreakGlass
from services.chart_access.chart_guard import AccessPolicy, ChartGuard, OpenToAll
from services.identity.linking import SubjectLinker
from services.model_port import Answer
from services.patient_context.reading.analyzer import PatientContextAnalyzer
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from services.patient_context.roster import rejoined, without
from services.patient_context.service import PatientContextService
from services.patient_context.verdict import PatientVerdict
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore

PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)
CONVERSATION = "19:abc@thread.tacv2"
MODEL_SECONDS = 0.25
READ_MS = 12.5


class Asked(NamedTuple):
    purpose: str
    instructions: str
    text: str


class ScriptedModel:
    """A `StructuredModel` that answers from a list and keeps what it was asked."""

    def __init__(self, *script: PatientContextDecision | ModelError, clock: FixedClock) -> None:
        self._script = list(script)
        self._clock = clock
        self.asked: list[Asked] = []

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        self.asked.append(Asked(purpose, instructions, text))
        assert self._script, f"the script is over, but the model was asked: {text}"
        self._clock.advance(MODEL_SECONDS)
        step = self._script.pop(0)
        if isinstance(step, ModelError):
            raise step
        return answer.model_validate(
            {"patient": _ref_of(step, text), "task": "answer", "agent": "nobody"}
        )


def _ref_of(decision: PatientContextDecision, text: str) -> str:
    """Return what a reader answers that means `decision`: rows have refs, and no one else has."""
    if decision.action == "CLEAR":
        return "clear"
    if decision.action in ("NONE", "UNCHANGED"):
        return "open"
    rows = json.loads(text)["patients"].items()
    return next((ref for ref, row in rows if row.split(",")[0] == decision.patient_id), "another")


def says(action: AnalyzerAction, patient_id: str | None = None) -> PatientContextDecision:
    return PatientContextDecision(action=action, patient_id=patient_id, reasoning="scripted")


def registry(
    *names: str, active: str | None = None, epoch: int = 0, now: datetime | None = None
) -> Registry:
    """A registry in which the later a name stands, the later its patient was used."""
    start = now or FixedClock().now() - timedelta(days=1)
    rows = {
        PatientId(name): PatientContext(
            patient_id=PatientId(name),
            conversation_id=CONVERSATION,
            created_at=start,
            updated_at=start + timedelta(minutes=place),
        )
        for place, name in enumerate(names)
    }
    pointer = None if active is None else PatientId(active)
    return Registry(
        conversation_id=CONVERSATION, active_patient_id=pointer, patient_registry=rows, epoch=epoch
    )


class World:
    """A conversation that goes on from message to message as the pipeline would drive it."""

    def __init__(
        self,
        *names: str,
        active: str | None = None,
        script: Sequence[PatientContextDecision | ModelError] = (),
        pattern: PatientIdPattern = PATTERN,
        linker: SubjectLinker | None = None,
        access: AccessPolicy | None = None,
        break_glass_minutes: int = 0,
        audit: Audit | None = None,
    ) -> None:
        self.clock = FixedClock()
        self.store = MemoryBlobStore()
        self.alerts: list[str] = []
        self.glass = BreakGlass(
            store=self.store, clock=self.clock, ids=CountingIds(), minutes=break_glass_minutes
        )
        self.guard = guard = ChartGuard(
            policy=access or OpenToAll(),
            audit=audit or NoAudit(),
            clock=self.clock,
            glass=self.glass,
            alert=self.alerts.append,
        )
        self.registry = registry(*names, active=active)
        self.question: OpenQuestion | None = None
        self.document = ChatContext(
            conversation_id=CONVERSATION, patient_id=self.registry.active_patient_id
        )
        self.model = ScriptedModel(*script, clock=self.clock)
        self.timing = TimingInfo()
        self._service = PatientContextService(
            analyzer=PatientContextAnalyzer(model=self.model, pattern=pattern),
            pattern=pattern,
            clock=self.clock,
            ids=CountingIds(),
            linker=linker,
            guard=guard,
        )

    async def say(
        self, text: str, *, user: str = "dr-a", press: Press | None = None
    ) -> PatientVerdict:
        rows = self.registry.patient_registry
        closed = frozenset(rows) - {*await self.guard.open_to(user, rows)}
        verdict, self.timing = await self._service.decide_and_apply(
            text,
            self.document,
            registry=without(self.registry, closed),
            question=self.question,
            user=user,
            run_id="run_1",
            press=press,
            registry_ms=READ_MS,
            closed=closed,
        )
        if verdict.registry is not None:
            self.registry = rejoined(verdict.registry, self.registry, closed)
        self._carry_out(verdict, user)
        return verdict

    def _carry_out(self, verdict: PatientVerdict, user: str) -> None:
        asked = self.question
        if asked is not None and (asked.user == user or verdict.question is not None):
            self.question = None  # as the turn does: it is answered, or its user went on
        if verdict.question is not None:
            assert self.question is None, "a question was opened beside another"
            self.question = verdict.question
        assert self.document.patient_contexts.items() <= self.registry.patient_registry.items()
        if verdict.patient_id != self.document.patient_id:
            self.document = ChatContext(conversation_id=CONVERSATION, patient_id=verdict.patient_id)
