"""What the web's routes stand on: who comes in, and what is read and changed without a turn."""

from zoneinfo import ZoneInfo

from data_models.errors import RateLimitedError, TooManyExportsError
from foundation import Foundation, claimant_of, clearing_of, days_of, feedback_of
from routes.requests.context import RouteContext, SocketLimits
from routes.requests.endpoint import Readiness
from routes.server import WebAccess
from services.access import access_factory
from services.access.limits import SocketSlots
from services.access.sign_in.fhircast import Hub
from services.channels.ports import PageFeedback
from services.chart_access.relationship import NotingAuthenticator
from services.conversations.maintenance_lease import MaintenanceLease, claim_times_for
from services.identity.identity_factory import linker_for
from services.rounds.preparing import RoundPreparer
from services.rounds.round_actions import RoundActions
from services.rounds.round_list import RoundBook, RoundEntry
from services.rounds.round_service import Choice, RoundService
from services.scenarios.operators.operator_factory import Operators
from services.speech import speech_for
from services.tool_memory.personal import PersonalToolMemories
from services.turn.access import look_book_for
from services.turn.memory import memory_rules
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.archive import ArchiveReader, Branching, Restoring
from services.views.conversation_list import ConversationList, NameStore
from services.views.conversation_reader import ConversationReader
from services.views.owner_changes import AttachmentService, Drafts, MemoryService
from services.views.patient_chart import PatientChart, ProgramCharts
from services.views.patient_finder import PatientFinder
from services.views.worklist import Worklist


def route_context_of(
    base: Foundation,
    scheduler: TurnScheduler,
    reader: ConversationReader,
    readiness: Readiness,
    operators: Operators,
    rounds: RoundService,
) -> RouteContext:
    """Return what the handlers of the web's routes work with."""
    settings, records, clock = base.settings, base.records, base.clock
    users, guard = base.users, base.access.guard
    finder = PatientFinder(directory=base.directory, guard=guard)
    lease, names = lease_of(base), NameStore(store=users)
    book, clearing = feedback_of(base), clearing_of(base)
    return RouteContext(
        scheduler=scheduler,
        reader=reader,
        team=base.team,
        rate=access_factory.rate_for(base, settings.messages_per_minute, RateLimitedError),
        reads=base.access.reads,
        exports=access_factory.rate_for(base, settings.exports_per_minute, TooManyExportsError),
        glass=base.access.glass,
        slots=SocketSlots(limit=settings.sockets_per_user),
        clock=clock,
        ids=base.ids,
        readiness=readiness,
        registry=base.metrics.registry,
        metrics_token=settings.metrics_token,
        operators=operators.service,
        finder=finder,
        chart=PatientChart(reader=reader, records=records),
        programs=ProgramCharts(finder=finder, records=records) if settings.mcp_endpoint else None,
        memory=memory_of(base, reader, lease),
        conversations=ConversationList(reader=reader, names=names),
        drafts=Drafts(reader=reader, store=users),
        branching=Branching(reader=reader, store=base.documents.store),
        feedback=PageFeedback(reader=reader, book=book),
        worklist=worklist_of(base),
        restoring=Restoring(reader=reader, clearing=clearing, lease=lease),
        archive=ArchiveReader(reader=reader, store=base.documents.store),
        rounds=rounds,
        round_actions=RoundActions(entry=rounds.entry, preparer=rounds.preparer),
        speech=speech_for(settings, session=base.session),
        browser_speech=settings.speech_browser,
        attachments=attachments_of(base, reader, lease),
        patient_id_example=base.pattern.example(),
        link_hosts=settings.link_allow_list,
        limits=SocketLimits(
            frame_bytes=settings.frame_limit_bytes, idle_seconds=settings.idle_logoff_seconds
        ),
    )


def web_access_of(base: Foundation) -> WebAccess:
    """Return who comes in, and how."""
    settings, keys = base.settings, base.access.keys
    ways = access_factory.sign_in_for(base, keys=keys)
    authenticator = access_factory.authenticator_for(base, keys=keys, sign_in=ways.page)
    return WebAccess(
        authenticator=NotingAuthenticator(inner=authenticator, book=base.access.book),
        origins=access_factory.origin_policy_for(settings),
        trusted_proxy=settings.trusted_proxy,
        https=(settings.public_base_url or "").startswith("https://"),
        allowed_origins=settings.allowed_origins,
        sign_in=ways.page,
        smart=ways.smart,
        hub=None if settings.fhircast_hub_url is None else Hub(session=base.session),
        frame_ancestors=settings.frame_ancestors,
    )


def lease_of(base: Foundation) -> MaintenanceLease:
    """Return who holds conversations for work of people that is no turn."""
    return MaintenanceLease(claimant=claimant_of(base), ids=base.ids)


def memory_of(
    base: Foundation, reader: ConversationReader, lease: MaintenanceLease
) -> MemoryService:
    """Return what shows users what is remembered, and changes it for them."""
    return MemoryService(
        reader=reader,
        personal=PersonalToolMemories(store=base.users),
        lease=lease,
        rules=memory_rules(base.settings),
    )


def attachments_of(
    base: Foundation, reader: ConversationReader, lease: MaintenanceLease
) -> AttachmentService:
    """Return what takes in the papers that users give."""
    return AttachmentService(
        reader=reader,
        lease=lease,
        linker=linker_for(base.settings, directory=base.directory, fits=base.pattern.matches),
        documents=base.records.document_reader,
        read_image=base.team.read_image,
    )


def worklist_of(base: Foundation) -> Worklist:
    """Return who is seen today by the records, and whom users pin."""
    return Worklist(
        days=days_of(base),
        directory=base.directory,
        guard=base.access.guard,
        store=base.users,
        zone=ZoneInfo(base.settings.time_zone),
    )


def rounds_of(
    base: Foundation, scheduler: TurnScheduler, reader: ConversationReader
) -> RoundService:
    """Return the rounds of this process."""
    settings, records, guard = base.settings, base.records, base.access.guard
    entry = RoundEntry(book=RoundBook(store=base.users), guard=guard)
    choice = Choice(
        finder=PatientFinder(directory=base.directory, guard=guard),
        pattern=base.pattern,
        days=days_of(base),
        zone=ZoneInfo(settings.time_zone),
    )
    preparer = RoundPreparer(
        scheduler=scheduler,
        reader=reader,
        records=records,
        entry=entry,
        replica=base.replica,
        parallel=settings.rounds_parallel,
        times=claim_times_for(settings),
    )
    return RoundService(
        entry=entry,
        preparer=preparer,
        choice=choice,
        records=records,
        reader=reader,
        looks=look_book_for(settings, users=base.users),
    )
