"""Builds the team and its models from the settings; importing this costs seconds."""

from data_models.clock import Clock, IdSource
from group_chat.late_start import Started
from group_chat.limits import GroupChatLimits
from group_chat.models.factory import build_models
from group_chat.models.model_settings import model_settings_of
from group_chat.semantic_group_chat import SemanticGroupChat
from group_chat.tool_watchers import AuditToolWatcher, EntityToolWatcher, MemoryToolWatcher
from group_chat.tools.catalogue import Connected
from services.audit.trail import Audit
from services.records.ports import PatientRecords
from services.team import Team
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
        watcher=MemoryToolWatcher(then=EntityToolWatcher(then=AuditToolWatcher(audit=audit))),
    )
    return Started(
        group_chat=group_chat,
        structured=models.structured,
        check=models.check,
        close=models.close,
    )
