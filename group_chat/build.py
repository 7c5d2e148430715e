"""Builds the team and its models from the settings; importing this costs seconds."""

from zoneinfo import ZoneInfo

from data_models.clock import Clock, IdSource
from group_chat.audit_tool_watcher import AuditToolWatcher
from group_chat.entity_tool_watcher import EntityToolWatcher
from group_chat.late_start import Started
from group_chat.limits import GroupChatLimits
from group_chat.memory_tool_watcher import MemoryToolWatcher
from group_chat.models.factory import build_models
from group_chat.models.model_settings import model_settings_of
from group_chat.semantic_group_chat import SemanticGroupChat
from group_chat.team import Team
from group_chat.tools.catalogue import Connected
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.personal import PersonalAssistant
from group_chat.tools.scheduling_tools import SchedulingTools
from services.audit.trail import Audit
from services.records.ports import PatientRecords
from services.scheduling.clinic import Clinic
from services.telemetry.metrics import Metrics
from settings import Settings


def build_team(
    settings: Settings,
    *,
    team: Team,
    records: PatientRecords,
    audit: Audit,
    metrics: Metrics,
    clock: Clock,
    ids: IdSource,
    clinic: Clinic,
    office: PersonalAssistant,
    evidence: EvidenceTools,
) -> Started:
    """Return the team; call once per process.

    Raises:
        ConfigurationError: a setting of the model is missing or malformed.
    """
    chosen = model_settings_of(settings)
    models = build_models(settings=chosen, observe=metrics.model_called)
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
        connected=Connected(
            clinic=SchedulingTools(
                appointments=clinic, people=clinic, ids=ids, zone=ZoneInfo(settings.time_zone)
            ),
            office=office,
            evidence=evidence,
        ),
        watcher=MemoryToolWatcher(then=EntityToolWatcher(then=AuditToolWatcher(audit=audit))),
    )
    return Started(
        group_chat=group_chat,
        structured=models.structured,
        check=models.check,
        close=models.close,
    )
