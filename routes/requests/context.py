"""Who calls, how often they may, and what every handler finds on the application."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from data_models.clock import Clock, IdSource
from data_models.conversations.incoming_message import Sender
from data_models.errors import ForbiddenError, UnauthenticatedError
from routes.requests.endpoint import Readiness
from routes.requests.json_input import query_of
from services.access.limits import MessageRate, OriginPolicy, SocketSlots
from services.access.principal import Authenticator, Handshake, Principal
from services.channels.ports import PageFeedback
from services.chart_access.break_glass import BreakGlass
from services.group_chat_port import GroupChat
from services.records.fhir.reading import reading_as
from services.rounds.round_actions import RoundActions
from services.rounds.round_service import RoundService
from services.scenarios.operators.operator_service import OperatorService
from services.speech import Speech
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.archive import ArchiveReader, Branching, Restoring
from services.views.conversation_list import ConversationList
from services.views.conversation_reader import ConversationReader, OwnedChat
from services.views.owner_changes import AttachmentService, Drafts, MemoryService
from services.views.patient_chart import PatientChart, ProgramCharts
from services.views.patient_finder import PatientFinder
from services.views.worklist import Worklist

# The door of the API: nobody unverified reaches a handler, and nobody oftener than allowed.

# The bots' own adapter verifies these, by the channel's tokens.
_BOT_ROUTE = re.compile(r"/api/([^/]+/)?messages")
_FORWARDING = (
    "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP",
    "CF-Connecting-IP", "True-Client-IP", "X-Client-IP", "X-Original-Forwarded-For",
)  # fmt: skip
SESSION_COOKIE = "__Host-rounds"
SIGN_OUT = "/auth/logout"
MCP = "/mcp"
"""For programs: no cookie and no proxy's word opens it, only a bearer token."""
_COOKIE_LIMIT_CHARS = 200
_PRINCIPAL = web.RequestKey("principal", Principal)


@dataclass(frozen=True, slots=True)
class Entered:
    """How the sender of a request came in, to ask again while its socket is open."""

    authenticator: Authenticator
    handshake: Handshake

    async def check(self) -> None:
        """Return if the sender may still come in.

        Raises:
            AccessError: it may not any more, or that cannot be told at the moment.
        """
        await self.authenticator.authenticate(self.handshake)


_ENTERED = web.RequestKey("entered", Entered)


def authentication(
    *, authenticator: Authenticator, origins: OriginPolicy, trusted_proxy: bool
) -> Middleware:
    """Return the middleware that verifies who calls and from which page.

    Args:
        authenticator: Asked for every guarded request.
        origins: Asked first: a foreign page is turned away even with a good token.
        trusted_proxy: Whether the proxy's headers are believed; otherwise nobody reads them.
    """

    @web.middleware
    async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
        if is_guarded(request):
            handshake = handshake_of(request, trusted_proxy=trusted_proxy)
            if _route_of(request) == MCP:
                handshake = replace(handshake, session_id=None, client_principal=None)
            origins.check(handshake)
            request[_PRINCIPAL] = principal = await authenticator.authenticate(handshake)
            request[_ENTERED] = Entered(authenticator, handshake)
            with reading_as(principal.id):
                return await handler(request)
        return await handler(request)

    return authenticate


def principal_of(request: web.Request) -> Principal:
    """Return who sends `request`.

    Raises:
        UnauthenticatedError: the route is not guarded; nobody was verified.
    """
    if _PRINCIPAL not in request:
        raise UnauthenticatedError
    return request[_PRINCIPAL]


def sender_of(principal: Principal, *, called: str | None = None) -> Sender:
    """Return a verified caller as who sends a message; `called`: instead of the verified name."""
    return Sender(
        principal_id=principal.id,
        display_name=called or principal.name,
        tenant_id=principal.tenant or "",
        may_order="order" in principal.roles,
    )


def known_of(request: web.Request) -> Principal | None:
    """Return who sends `request`, None where nobody was verified."""
    return request.get(_PRINCIPAL)


def entered_of(request: web.Request) -> Entered:
    """Return how the sender of a guarded `request` came in."""
    return request[_ENTERED]


def browser_session_of(request: web.Request) -> str | None:
    """Return the session of a user who signed in with a browser, by its cookie or in a frame."""
    if principal_of(request).kind != "oidc":
        return None
    handshake = entered_of(request).handshake
    return handshake.session_id or handshake.bearer


def operator_of(request: web.Request) -> Principal:
    """Return who sends `request`, if it is an operator.

    Raises:
        ForbiddenError: it is not.
    """
    principal = principal_of(request)
    if not principal.is_operator:
        raise ForbiddenError
    return principal


def is_guarded(request: web.Request) -> bool:
    """Tell whether `request` needs a principal: `/api/` but the bots', `/mcp`, signing out."""
    route = _route_of(request)
    is_bots = request.method == hdrs.METH_POST and _BOT_ROUTE.fullmatch(route) is not None
    is_api = route.startswith("/api/") or request.path.startswith("/api/")
    return not is_bots and (is_api or route in (SIGN_OUT, MCP))


def _route_of(request: web.Request) -> str:
    resource = request.match_info.route.resource
    return request.path if resource is None else resource.canonical


def handshake_of(request: web.Request, *, trusted_proxy: bool) -> Handshake:
    """Return what `request` shows; a header that comes twice is of no use to anybody."""
    upgrades = hdrs.UPGRADE in request.headers
    protocols = _header(request, hdrs.SEC_WEBSOCKET_PROTOCOL) or ""
    value = request.cookies.get(SESSION_COOKIE, "")
    return Handshake(
        peer=request.remote,
        host=_header(request, hdrs.HOST) or "",
        forwarded=not trusted_proxy and any(name in request.headers for name in _FORWARDING),
        origin=_header(request, hdrs.ORIGIN),
        fetch_site=_header(request, "Sec-Fetch-Site"),
        only_reads=request.method in {hdrs.METH_GET, hdrs.METH_HEAD} and not upgrades,
        authorization=_header(request, hdrs.AUTHORIZATION),
        protocols=tuple(part.strip() for part in protocols.split(",")),
        client_principal=_header(request, "X-MS-CLIENT-PRINCIPAL") if trusted_proxy else None,
        writes=request.method not in {hdrs.METH_GET, hdrs.METH_HEAD},
        session_id=value if 0 < len(value) <= _COOKIE_LIMIT_CHARS else None,
        csrf=_header(request, "X-CSRF-Token"),
    )


def _header(request: web.Request, name: str) -> str | None:
    values = request.headers.getall(name, [])
    return ",".join(values) if values else None


# How often a caller may read, change or export something (spec page 7, R18).

READS = frozenset({hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS})
DRAFT = "/api/chats/{chat_id}/draft"
UNCOUNTED: Mapping[str, str] = {
    "/api/chats/{chat_id}/stop": "It ends work; in a flood it is needed most.",
    "/api/ag-ui": "It is a message, and counted as one when it is taken.",
    DRAFT: "Saved while a message is written: it counts as a read.",
    "/api/messages": "The bot counts by the user whom the channel names.",
    "/api/{agent}/messages": "The bot counts by the user whom the channel names.",
}
"""Writing routes that this door does not count, and why."""
EXPORTS = frozenset({"/api/chats/{chat_id}/export", "/api/rounds/{round_id}/print"})
_SOCKETS = frozenset({"/api/ws/chats/{chat_id}/messages"})
_OPERATORS = "/api/operator/"
_OF_ANY_SCOPE = frozenset({SIGN_OUT, "/api/user/me"})
"""Asks for the role itself."""


def counting(rate: MessageRate, *, reads: MessageRate, exports: MessageRate) -> Middleware:
    """Return the middleware that counts each request; the caller is verified before.

    A route that is added later is counted unless it stands in `UNCOUNTED`. A key without the scope
    `chat` changes nothing, one without `read` reads nothing.
    """

    @web.middleware
    async def count(request: web.Request, handler: Handler) -> web.StreamResponse:
        resource = request.match_info.route.resource
        if resource is None or not is_guarded(request):
            return await handler(request)
        route = resource.canonical
        _check_scope(request, route)
        caller = principal_of(request).id
        if not _only_reads(request, route) and route not in UNCOUNTED:
            rate.take(caller)
        if route == DRAFT or _only_reads(request, route):
            reads.take(caller)
        if route in EXPORTS:
            exports.take(caller)
        return await handler(request)

    return count


def _only_reads(request: web.Request, route: str) -> bool:
    """Whether nothing is changed: programs send what they ask for."""
    return request.method in READS or route == MCP


def _check_scope(request: web.Request, route: str) -> None:
    """Return if the caller's key may do this.

    Raises:
        ForbiddenError: it may not.
    """
    if route.startswith(_OPERATORS) or route in _OF_ANY_SCOPE:
        return
    writes = not _only_reads(request, route) or route in _SOCKETS
    if ("chat" if writes else "read") not in principal_of(request).scopes:
        raise ForbiddenError


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
        speech: None where no server writes down what is dictated.
        browser_speech: Whether the browser may do so, where no server does.
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
    archive: ArchiveReader
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
    browser_speech: bool = False
    patient_id_example: str = "patient_4"
    link_hosts: tuple[str, ...] = ()
    limits: SocketLimits = field(default_factory=SocketLimits)

    @property
    def dictation(self) -> Literal["", "server", "browser"]:
        """Who writes down what is dictated; "" where nobody does."""
        if self.speech is not None:
            return "server"
        return "browser" if self.browser_speech else ""


CONTEXT: web.AppKey[RouteContext] = web.AppKey("context", RouteContext)


def chat_asked(
    request: web.Request, *, needs_patient: bool = False
) -> tuple[RouteContext, OwnedChat]:
    """Return the collaborators, and which conversation, of which patient, who asks for.

    Raises:
        BadFrameError: the query has to name the patient, and does not.
    """
    whose = query_of(request, "patient_id") if needs_patient else request.query.get("patient_id")
    return request.app[CONTEXT], OwnedChat(
        request.match_info["chat_id"], principal_of(request).id, whose
    )
