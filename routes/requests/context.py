"""What every handler finds on the application."""

from dataclasses import dataclass, field

from aiohttp import web
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from data_models.clock import Clock, IdSource
from routes.requests.auth import principal_of
from routes.requests.health import Readiness
from services.access.limits import MessageRate, SocketSlots
from services.channels.feedback import PageFeedback
from services.chart_access.break_glass import BreakGlass
from services.group_chat_port import GroupChat
from services.rounds.round_actions import RoundActions
from services.rounds.round_service import RoundService
from services.scenarios.operators.operator_service import OperatorService
from services.speech import Speech
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.attachment_service import AttachmentService
from services.views.branching import Branching
from services.views.conversation_list import ConversationList
from services.views.conversation_reader import ConversationReader
from services.views.drafts import Drafts
from services.views.memory_service import MemoryService
from services.views.patient_chart import PatientChart, ProgramCharts
from services.views.patient_finder import PatientFinder
from services.views.restoring import Restoring
from services.views.worklist import Worklist


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """Limits of one socket.

    Attributes:
        heartbeat_seconds: A ping goes out after so long without a byte from the client; half as
            long later the peer counts as dead.
        runs: Runs that one socket may watch or wait for at a time; then it is read no further.
    """

    frame_bytes: int = 262_144
    heartbeat_seconds: float = 20.0
    idle_seconds: float = 900.0
    runs: int = 32


@dataclass(frozen=True, slots=True)
class RouteContext:
    """The collaborators of the handlers.

    Attributes:
        metrics_token: Opens the figures, as the roles `operator` and `metrics` do, and dev.
        programs: None where charts are not served to programs (`/mcp`).
        speech: None where nobody dictates.
        patient_id_example: An id in the configured form, for the client's examples.
        link_hosts: Hosts that links in answers may lead to.
    """

    scheduler: TurnScheduler
    reader: ConversationReader
    conversations: ConversationList
    team: GroupChat
    rate: MessageRate
    slots: SocketSlots
    clock: Clock
    ids: IdSource
    readiness: Readiness
    registry: CollectorRegistry
    finder: PatientFinder
    chart: PatientChart
    memory: MemoryService
    drafts: Drafts
    branching: Branching
    feedback: PageFeedback
    worklist: Worklist
    restoring: Restoring
    rounds: RoundService
    round_actions: RoundActions
    operators: OperatorService
    attachments: AttachmentService
    reads: MessageRate
    exports: MessageRate
    glass: BreakGlass
    metrics_token: SecretStr | None = None
    programs: ProgramCharts | None = None
    speech: Speech | None = None
    patient_id_example: str = "patient_4"
    link_hosts: tuple[str, ...] = ()
    limits: SocketLimits = field(default_factory=SocketLimits)


CONTEXT: web.AppKey[RouteContext] = web.AppKey("context", RouteContext)


def chat_asked(request: web.Request) -> tuple[RouteContext, str, str]:
    """Return the collaborators, the conversation that the address names, and who asks."""
    return request.app[CONTEXT], request.match_info["chat_id"], principal_of(request).id
