"""Builds the team: its models, tools and watchers of tool runs; costs seconds to import."""

import importlib
from collections.abc import Mapping
from dataclasses import replace
from zoneinfo import ZoneInfo

import aiohttp

from data_models.clock import Clock, IdSource
from group_chat.late_start import Started
from group_chat.limits import GroupChatLimits
from group_chat.models.factory import build_models
from group_chat.models.model_settings import model_settings_of
from group_chat.semantic_group_chat import SemanticGroupChat
from group_chat.tools.catalogue import Connected
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from group_chat.tools.order_tools import OrderTools
from group_chat.tools.personal import PersonalAssistant
from group_chat.tools.scheduling_tools import SchedulingTools
from group_chat.tools.watcher import LogToolWatcher, ToolRun
from group_chat.turn_context import TurnContext
from services.audit.entry import AuditEntry
from services.audit.trail import Audit
from services.entities.session import Derives, StoredRun
from services.evidence.evidence_factory import (
    foreign_clients_for,
    guidelines_for,
    research_for,
    studies_for,
)
from services.evidence.foreign.servers import ForeignServers
from services.orders.order_drafts import OrderDrafts
from services.records.ports import PatientRecords
from services.scheduling.clinic import Clinic
from services.team import Team
from services.telemetry.metrics import Metrics
from services.tool_memory.session import FinishedRun
from services.turn.entities import eviction_notice
from settings import Settings


def connected_for(
    settings: Settings,
    *,
    records: PatientRecords,
    clinic: Clinic,
    orders: OrderDrafts | None,
    office: PersonalAssistant,
    foreign: ForeignServers,
    session: aiohttp.ClientSession,
    clock: Clock,
    ids: IdSource,
) -> Connected:
    """Return it.

    Raises:
        ConfigurationError: a file that a setting names cannot be read.
    """
    importlib.import_module("services.assistant.local_calendar")
    outside = ForeignTools(
        servers=foreign_clients_for(settings, foreign, session=session),
        records=records,
        names=office.names,
    )
    return Connected(
        clinic=SchedulingTools(clinic=clinic, ids=ids, zone=ZoneInfo(settings.time_zone)),
        office=office,
        evidence=EvidenceTools(
            guidelines=guidelines_for(settings, clock=clock),
            studies=studies_for(settings, session=session),
            records=records,
            country=settings.trials_country,
            research=research_for(settings, session=session),
            outside=outside,
        ),
        foreign=outside,
        orders=None if orders is None else OrderTools(drafts=orders, records=records, ids=ids),
    )


def build_team(
    settings: Settings,
    *,
    team: Team,
    records: PatientRecords,
    audit: Audit,
    metrics: Metrics,
    clock: Clock,
    ids: IdSource,
    connected: Connected,
) -> Started:
    """Return the team; call once per process.

    Raises:
        ConfigurationError: a setting of the model is missing or malformed.
    """
    chosen = model_settings_of(settings)
    models = build_models(settings=chosen, metrics=metrics)
    metrics.model_is(chosen.model if models.is_language_model else "offline")
    group_chat = SemanticGroupChat.build(
        team=team,
        chat_model=models.chat,
        records=records,
        clock=clock,
        ids=ids,
        limits=GroupChatLimits(
            link_hosts=frozenset(settings.link_allow_list),
            answers_directly=settings.direct_answers,
            window_chars=settings.window_chars,
            agent_messages=settings.turn_agent_messages,
            tool_rounds=settings.tool_rounds,
            tool_calls=settings.turn_tool_calls,
            tool_seconds=settings.tool_seconds,
            output_bytes=settings.turn_output_bytes,
            window_tokens=lambda: models.profile().window_tokens,
        ),
        is_language_model=models.is_language_model,
        connected=connected,
        watcher=TurnToolWatcher(audit=audit),
    )
    return Started(
        group_chat=group_chat,
        structured=models.structured,
        check=models.check,
        close=models.close,
    )


# What each tool derives from its result (spec page 2.3).

_SLOTS_SECONDS = 900.0
_PROPOSAL_SECONDS = 3_600.0
_COVERAGE_SECONDS = 86_400.0

DERIVES: Mapping[str, tuple[Derives, ...]] = {
    "available_slots": (
        Derives("doctor_uuid", ("doctor_uuid",), depends_on=("doctor_preference",)),
        Derives(
            "available_slots",
            ("slots",),
            valid_for=_SLOTS_SECONDS,
            depends_on=("doctor_preference", "date_preference"),
        ),
    ),
    "book_appointment": (
        Derives(
            "appointment_proposal",
            ("proposal",),
            valid_for=_PROPOSAL_SECONDS,
            depends_on=("doctor_preference", "date_preference", "time_preference"),
        ),
    ),
    "move_appointment": (
        Derives("appointment_proposal", ("proposal",), valid_for=_PROPOSAL_SECONDS),
    ),
    "cancel_appointment": (
        Derives("appointment_proposal", ("proposal",), valid_for=_PROPOSAL_SECONDS),
    ),
    "find_person": (Derives("patient_id_retrieved", ("patient_id_retrieved",)),),
    "register_person": (
        Derives("appointment_proposal", ("proposal",), valid_for=_PROPOSAL_SECONDS),
    ),
    "insurance_eligibility": (
        Derives("eligibility_checked", ("eligible",), valid_for=_COVERAGE_SECONDS),
        Derives("insurance_verified", ("coverage",), valid_for=_COVERAGE_SECONDS),
    ),
}


def file_derived(turn: TurnContext, run: ToolRun) -> None:
    """Keep what a tool run says of its patient with the agent that asked."""
    entities = turn.request.entities
    if entities is None:
        return
    if run.data is not None:
        entities.store_tool_result(
            run.agent,
            run.tool,
            run.arguments,
            run.data,
            derives=DERIVES.get(run.tool, ()),
            run=StoredRun(run.execution_id, run.entity_ids),
        )
    notice = eviction_notice(entities)
    if notice is not None:
        turn.emit(notice)


def remembered(turn: TurnContext, run: ToolRun) -> ToolRun:
    """Keep a run in the tool memory of its patient, and return it with what it is kept as."""
    memory = turn.request.tool_memory
    if memory is None:
        return run
    kept = memory.record(
        FinishedRun(
            tool=run.tool,
            agent=run.agent,
            parameters=run.arguments,
            data=run.data,
            error=None if run.error_code is None else run.content,
            duration_ms=run.duration_ms,
            call_id=run.call_id,
        )
    )
    return replace(run, execution_id=kept.execution_id, entity_ids=tuple(kept.entity_ids))


class TurnToolWatcher:
    """Remembers every tool run for the patient of its turn, and logs it; no tool can forget to.

    The turn's own record covers the runs that stayed with its patient.
    """

    def __init__(self, *, audit: Audit) -> None:
        self._audit = audit
        self._log = LogToolWatcher()

    async def note_run(self, turn: TurnContext, run: ToolRun) -> None:
        run = remembered(turn, run)
        file_derived(turn, run)
        await self._log.note_run(turn, run)

    async def note_refused_patient(self, turn: TurnContext, tool: str) -> None:
        """See `ToolWatcher.note_refused_patient`.

        Raises:
            AuditUnavailableError: the attempt could not be put on record; the turn ends.
        """
        await self._log.note_refused_patient(turn, tool)
        request = turn.request
        await self._audit.record(
            AuditEntry(
                principal=request.principal_id,
                conversation=request.conversation_id,
                patient=request.patient_id,
                run_id=request.run_id,
                actions=(f"tool_refused_patient:{tool}",),
                outcome="refused",
            )
        )
