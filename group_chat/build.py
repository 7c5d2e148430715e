"""Builds the team: its models, tools and watchers of tool runs; costs seconds to import."""

from zoneinfo import ZoneInfo

from group_chat.late_start import Started
from group_chat.models.factory import build_models
from group_chat.models.model_settings import model_settings_of
from group_chat.semantic_group_chat import SemanticGroupChat
from group_chat.tools.catalogue import Connected
from group_chat.tools.clinic.order_tools import OrderTools
from group_chat.tools.clinic.scheduling_tools import SchedulingTools
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from group_chat.tools.personal.personal import PersonalAssistant
from group_chat.tools.tool import ToolWatcher
from group_chat.turn_context import GroupChatLimits
from services.audit.trail import Audit
from services.basis import Basis
from services.evidence import evidence_factory
from services.evidence.evidence_factory import ForeignServers
from services.orders.order_drafts import OrderDrafts
from services.records.resources.ports import PatientRecords
from services.scheduling.clinic import Clinic
from services.team import Team
from services.telemetry.metrics import Metrics


def connected_for(
    basis: Basis,
    *,
    records: PatientRecords,
    clinic: Clinic,
    orders: OrderDrafts | None,
    office: PersonalAssistant,
    foreign: ForeignServers,
) -> Connected:
    """Return it.

    Raises:
        ConfigurationError: a file that a setting names cannot be read.
    """
    outside = ForeignTools(
        servers=evidence_factory.foreign_clients_for(basis, foreign),
        records=records,
        names=office.names,
    )
    zone, ids = ZoneInfo(basis.settings.time_zone), basis.ids
    return Connected(
        clinic=SchedulingTools(clinic=clinic, zone=zone, records=records),
        office=office,
        evidence=EvidenceTools(
            guidelines=evidence_factory.guidelines_for(basis),
            studies=evidence_factory.studies_for(basis),
            records=records,
            country=basis.settings.trials_country,
            research=evidence_factory.research_for(basis),
            outside=outside,
        ),
        foreign=outside,
        orders=None if orders is None else OrderTools(drafts=orders, records=records, ids=ids),
    )


def build_team(
    basis: Basis,
    *,
    team: Team,
    records: PatientRecords,
    audit: Audit,
    metrics: Metrics,
    connected: Connected,
) -> Started:
    """Return the team; call once per process.

    Raises:
        ConfigurationError: a setting of the model is missing or malformed.
    """
    settings = basis.settings
    chosen = model_settings_of(settings)
    models = build_models(settings=chosen, metrics=metrics)
    metrics.model_is(chosen.model if models.is_language_model else "offline")
    group_chat = SemanticGroupChat(
        team=team,
        chat_model=models.chat,
        records=records,
        clock=basis.clock,
        ids=basis.ids,
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
        watcher=ToolWatcher(audit=audit),
    )
    return Started(
        group_chat=group_chat,
        structured=models.structured,
        read_image=models.read_image,
        check=models.check,
        close=models.close,
    )
