"""What all parts stand on: the stores, the records, the team. Built once, by `app.py`."""

import importlib
from dataclasses import dataclass

import aiohttp
from prometheus_client import CollectorRegistry

from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.comparison import ComparisonAccessor
from data_models.conversation_accessor import ConversationAccessor
from data_models.counting_blob_store import CountingBlobStore
from data_models.documents import Documents
from data_models.patient_context_registry_accessor import PatientContextRegistryAccessor
from group_chat.late_start import LateStart, Started
from group_chat.team import Team, load_team
from group_chat.tools.catalogue import TOOL_NAMES
from services.assistant.back_end import AssistantBackEnd
from services.assistant.chosen import assistant_for
from services.audit.trail import Audit, AuditTrail, NoAudit
from services.conversations.owner_index import OwnerIndex
from services.identity.chosen import directory_for
from services.identity.directory import Directory
from services.patient_context.pattern import PatientIdPattern
from services.records.chosen import Records, records_for
from services.records.patient_names import PatientNames, patient_names_for
from services.replica import Replica
from services.scenarios.chosen import ScenarioHouse, scenarios_for
from services.scheduling.clinic import Clinic
from services.stores import Stores
from services.telemetry.metrics import Metrics
from services.turn.clinic import clinic_for
from services.turn.safety import SafetyAnswers, safety_for
from settings import Settings


@dataclass(frozen=True, slots=True)
class Foundation:
    """What all parts stand on."""

    settings: Settings
    stores: Stores
    clock: Clock
    ids: IdSource
    replica: Replica
    metrics: Metrics
    audit: Audit
    records: Records
    clinic: Clinic
    patient_names: PatientNames
    directory: Directory
    assistant: AssistantBackEnd
    documents: Documents
    conversations: ConversationAccessor
    registries: PatientContextRegistryAccessor
    contexts: ChatContextAccessor
    comparisons: ComparisonAccessor
    owners: OwnerIndex
    pattern: PatientIdPattern
    spec: Team
    team: LateStart
    scenarios: ScenarioHouse
    safety: SafetyAnswers

    async def close(self) -> None:
        """Release connections and files: the stores last, since all others write to them."""
        await self.team.close()
        await self.audit.close()
        await self.scenarios.close()
        self.records.close()
        await self.stores.close()


def foundation_of(
    settings: Settings,
    stores: Stores,
    clock: Clock,
    ids: IdSource,
    session: aiohttp.ClientSession,
    registry: CollectorRegistry,
) -> Foundation:
    """Return the parts that all others are built from; opens nothing but what `stores` hold."""
    replica = Replica()
    trail = AuditTrail(store=stores.audit, replica=replica.label, clock=clock)
    metrics = Metrics(registry=registry)
    store = CountingBlobStore(stores.sessions, clock=clock, observe=metrics.stored)
    documents = Documents(store=store, clock=clock, ids=ids, on_corrupt=metrics.corrupt)
    records = records_for(settings, session=session, clock=clock)
    pattern = _pattern(settings, records)
    fits = pattern.matches
    spec, offline = load_team(tools=TOOL_NAMES), settings.model_provider == "offline"
    return Foundation(
        settings=settings,
        stores=stores,
        clock=clock,
        ids=ids,
        replica=replica,
        metrics=metrics,
        audit=trail if settings.audit else NoAudit(),
        records=records,
        clinic=clinic_for(
            settings, patients=records, store=stores.users, session=session, clock=clock, ids=ids
        ),
        patient_names=patient_names_for(
            settings, patients=records, store=stores.users, session=session, clock=clock
        ),
        directory=directory_for(
            settings, fits=fits, patients=records, store=stores.users, session=session, clock=clock
        ),
        assistant=assistant_for(
            settings, store=stores.users, session=session, clock=clock, ids=ids
        ),
        documents=documents,
        conversations=ConversationAccessor(documents=documents),
        registries=PatientContextRegistryAccessor(documents=documents),
        contexts=ChatContextAccessor(documents=documents),
        comparisons=ComparisonAccessor(documents=documents),
        owners=OwnerIndex(store=stores.users),
        pattern=pattern,
        spec=spec,
        team=LateStart(team=spec, is_language_model=not offline),
        scenarios=scenarios_for(settings, ids=ids),
        safety=safety_for(settings),
    )


def _pattern(settings: Settings, records: Records) -> PatientIdPattern:
    pattern = PatientIdPattern.compile(settings.patient_id_pattern)
    return pattern.with_charts(records.named)


def started(base: Foundation) -> Started:
    """Import Semantic Kernel and build the team; runs in a thread, once."""
    base.safety.rules.compile()
    base.records.start()
    from group_chat.build import build_team

    importlib.import_module("services.assistant.local_calendar")
    return build_team(
        base.settings,
        team=base.spec,
        records=base.records,
        audit=base.audit,
        metrics=base.metrics,
        clock=base.clock,
        ids=base.ids,
        clinic=base.clinic,
        assistant=base.assistant,
        patient_names=base.patient_names,
    )
