"""What all parts stand on: the stores, the records, the team. Built once, by `app.py`."""

from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo

from prometheus_client import CollectorRegistry

from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock
from data_models.conversations.conversation_accessor import (
    ComparisonAccessor,
    ConversationAccessor,
    OwnerIndex,
)
from data_models.documents import Documents
from data_models.patient_context_models import PatientContextRegistryAccessor
from data_models.storage.counting_blob_store import CountingBlobStore
from group_chat.late_start import LateStart, Started, import_kernel
from group_chat.tools.catalogue import TOOL_NAMES
from services.access.access_factory import on_behalf_for
from services.access.on_behalf import OnBehalf
from services.assistant.assistant_factory import assistant_for
from services.assistant.back_end import own_contacts
from services.assistant.undo_log import AssistantService
from services.audit.trail import Audit, AuditTrail, NoAudit
from services.basis import Basis, Replica
from services.channels.deliveries import Deliveries
from services.channels.ports import FeedbackBook
from services.chart_access.chart_access_factory import ChartAccess, charts_for
from services.conversations.claimant import Claimant
from services.conversations.clearing import Clearing
from services.conversations.maintenance_lease import claimant_for
from services.evidence.evidence_factory import ForeignServers, foreign_servers_for
from services.identity.directory import Directory
from services.identity.identity_factory import directory_for, linker_for
from services.language.crisis.rules import load_other_rules, load_rules
from services.language.reader import ReaderTeam
from services.language.reading import make_ready
from services.orders.order_drafts import OrderDrafts
from services.patient_context.beside import chart_has, staff_beside
from services.patient_context.reading.analyzer import PatientContextAnalyzer
from services.patient_context.reading.pattern import PatientIdPattern
from services.patient_context.service import PatientContextService
from services.records.big_charts import without_collecting
from services.records.patient_names import PatientNames, patient_names_for
from services.records.records_factory import Records, resources_for
from services.scenarios.scenario_settings import ScenarioStores, scenarios_for
from services.scheduling.clinic import Clinic
from services.stores import Stores
from services.team import Team, load_team
from services.telemetry.metrics import Metrics
from services.turn.answers.safety import SafetyAnswers
from services.views.conversation_reader import ConversationReader
from services.views.visits_by_day import VisitsByDay, visits_by_day_for
from settings import Settings


@dataclass(frozen=True, kw_only=True)
class Foundation(Basis):
    """What all parts stand on."""

    stores: Stores
    replica: Replica
    metrics: Metrics
    audit: Audit
    access: ChartAccess
    records: Records
    clinic: Clinic
    orders: OrderDrafts | None
    patient_names: PatientNames
    directory: Directory
    assistant: AssistantService
    on_behalf: OnBehalf | None
    documents: Documents
    conversations: ConversationAccessor
    registries: PatientContextRegistryAccessor
    contexts: ChatContextAccessor
    comparisons: ComparisonAccessor
    owners: OwnerIndex
    pattern: PatientIdPattern
    spec: Team
    foreign: ForeignServers
    team: LateStart
    scenarios: ScenarioStores
    safety: SafetyAnswers

    async def close(self) -> None:
        """Release connections and files: the stores last, since all others write to them."""
        await self.team.close()
        await self.audit.close()
        await self.scenarios.close()
        self.records.close()
        await self.stores.close()


def foundation_of(basis: Basis, stores: Stores, registry: CollectorRegistry) -> Foundation:
    """Return the parts that all others are built from; opens nothing but what `stores` hold."""
    settings, clock, ids = basis.settings, basis.clock, basis.ids
    replica, metrics, on_behalf = Replica(), Metrics(registry=registry), on_behalf_for(basis)
    store = CountingBlobStore(stores.sessions, clock=clock, observe=metrics.count_storage)
    documents = Documents(store=store, clock=clock, ids=ids, on_corrupt=metrics.corrupt)
    audit = _audit(settings, stores, replica, clock)
    alert = metrics.access_alerted
    records, access = charts_for(basis, audit=audit, alert=alert, on_behalf=on_behalf)
    pattern = PatientIdPattern.compile(settings.patient_id_pattern).with_charts(records.named)
    resources = resources_for(basis, patients=records)
    spec, foreign = _team_of(settings)
    return Foundation(
        **vars(basis),
        stores=stores,
        replica=replica,
        metrics=metrics,
        audit=audit,
        access=access,
        records=records,
        clinic=Clinic(records=resources, clock=clock, ids=ids, zone=ZoneInfo(settings.time_zone)),
        orders=OrderDrafts(records=resources, clock=clock) if settings.order_drafts else None,
        patient_names=patient_names_for(records, resources, clock=clock),
        directory=directory_for(basis, pattern.matches, records, resources),
        assistant=AssistantService(
            back_end=assistant_for(basis, on_behalf=on_behalf), store=stores.users
        ),
        on_behalf=on_behalf,
        documents=documents,
        conversations=ConversationAccessor(documents=documents),
        registries=PatientContextRegistryAccessor(documents=documents),
        contexts=ChatContextAccessor(documents=documents),
        comparisons=ComparisonAccessor(documents=documents),
        owners=OwnerIndex(store=stores.users),
        pattern=pattern,
        spec=spec,
        foreign=foreign,
        team=LateStart(team=spec, is_language_model=settings.model_provider != "offline"),
        scenarios=scenarios_for(settings, ids=ids),
        safety=SafetyAnswers(
            rules=load_rules(),
            others=load_other_rules(),
            emergency_number=settings.emergency_number,
            crisis_line=settings.crisis_line or "",
        ),
    )


def _team_of(settings: Settings) -> tuple[Team, ForeignServers]:
    """Return the team, and the servers of other systems whose tools it was given."""
    team = load_team(tools=TOOL_NAMES, switched_on=settings.switched_on)
    foreign = foreign_servers_for(settings, agents=team.names, tools=TOOL_NAMES)
    return team.given(foreign.by_agent), foreign


def _audit(settings: Settings, stores: Stores, replica: Replica, clock: Clock) -> Audit:
    if not settings.audit:
        return NoAudit()
    return AuditTrail(store=stores.audit, replica=replica.label, clock=clock)


@without_collecting()
def started(base: Foundation) -> Started:
    """Import Semantic Kernel and build the team; runs in a thread, once.

    All that is made until then stays: the collector need not look at it in every tenth turn.
    """
    base.safety.compile()
    make_ready()
    base.records.start()
    import_kernel()
    from group_chat.build import build_team, connected_for
    from group_chat.tools.personal.personal import PersonalAssistant

    return build_team(
        base,
        team=base.spec,
        records=base.records,
        audit=base.audit,
        metrics=base.metrics,
        connected=connected_for(
            base,
            records=base.records,
            clinic=base.clinic,
            orders=base.orders,
            office=PersonalAssistant(base.assistant, base.patient_names),
            foreign=base.foreign,
        ),
    )


def claimant_of(base: Foundation) -> Claimant:
    """Return what claims conversations for this replica."""
    return claimant_for(
        base.settings,
        conversations=base.conversations,
        registries=base.registries,
        contexts=base.contexts,
        owners=base.owners,
        replica=base.replica,
        clock=base.clock,
    )


def feedback_of(base: Foundation) -> FeedbackBook:
    """Return the book of what users think of answers, on whichever channel."""
    deliveries = Deliveries(store=base.users, replica=base.replica, clock=base.clock)
    return FeedbackBook(
        store=base.documents.store, deliveries=deliveries, clock=base.clock, metrics=base.metrics
    )


def clearing_of(base: Foundation) -> Clearing:
    """Return what clears conversations, and undoes that."""
    return Clearing(store=base.documents.store, contexts=base.contexts)


def reader_of(base: Foundation) -> ConversationReader:
    """Return what shows stored conversations to their owners."""
    return ConversationReader(
        conversations=base.conversations,
        registries=base.registries,
        contexts=base.contexts,
        owners=base.owners,
        clock=base.clock,
        ids=base.ids,
        guard=base.access.guard,
    )


def patients_of(base: Foundation) -> PatientContextService:
    """Return what decides whose chart a message is for."""
    pattern, records, settings = base.pattern, base.records, base.settings
    team = ReaderTeam((*base.team.agents,))
    return PatientContextService(
        analyzer=PatientContextAnalyzer(model=base.team.reader, pattern=pattern, team=team),
        pattern=pattern,
        clock=base.clock,
        ids=base.ids,
        linker=linker_for(settings, directory=base.directory, fits=pattern.matches),
        allow_unknown=settings.allow_unknown_patients,
        guard=base.access.guard,
        beside=(partial(staff_beside, records), partial(own_contacts, base.assistant.back_end)),
        has_ill=partial(chart_has, records),
    )


def days_of(base: Foundation) -> VisitsByDay:
    """Return what knows who is seen on a day: one count for lists of rounds and of users."""
    return visits_by_day_for(base, records=base.records, directory=base.directory)
