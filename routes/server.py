"""The web application: every route and what stands around it."""

import hmac
from dataclasses import dataclass

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from data_models.errors import ForbiddenError, UnauthenticatedError
from routes import chats, export, user
from routes.attachments import attachment_routes
from routes.operator import PREFIX, operator_routes, refusals
from routes.patients import patient_routes
from routes.requests import endpoint
from routes.requests.context import (
    CONTEXT,
    RouteContext,
    authentication,
    counting,
    handshake_of,
    operator_of,
)
from routes.requests.json_input import problems
from routes.rounds import round_routes
from routes.smart import SignInRoutes, SmartRoutes, tell_page
from routes.static_client import StaticClient, evened, preflights, readable_by, security_headers
from routes.streams import ag_ui, following
from routes.streams.following import FOLLOWING, LAUNCHES, Following
from services.access.limits import OriginPolicy
from services.access.principal import Authenticator
from services.access.sign_in.fhircast import Hub
from services.access.sign_in.oidc import OidcSignIn
from services.access.sign_in.smart import SmartLaunch
from services.telemetry.metrics import quality_rows
from services.views.patient_finder import PatientFollower


async def show_quality(request: web.Request) -> endpoint.Json:
    """`GET quality`: how good answers are, by agent and model, since this process began."""
    operator_of(request)
    return {"rows": quality_rows(request.app[CONTEXT].registry)}


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Who comes in, and how.

    Attributes:
        trusted_proxy: Whether the proxy's headers are believed.
        https: Whether browsers reach the server by https only.
        allowed_origins: Pages of elsewhere that may call the API, with a token.
        sign_in: Signs users in with a browser, where they do.
        smart: Lets in whom a record system sends with a patient, where one does.
        hub: Tells which patient is open in a record system (FHIRcast), where one is followed.
        frame_ancestors: Origins whose pages may show ours in a frame.
    """

    authenticator: Authenticator
    origins: OriginPolicy
    trusted_proxy: bool = False
    https: bool = False
    allowed_origins: tuple[str, ...] = ()
    sign_in: OidcSignIn | None = None
    smart: SmartLaunch | None = None
    hub: Hub | None = None
    frame_ancestors: tuple[str, ...] = ()


_ACCESS = web.AppKey("access", WebAccess)


def create_web_app(
    *, context: RouteContext, access: WebAccess, client: StaticClient | None = None
) -> web.Application:
    """Return the application; its owner adds the routes that are not of this package, and runs it.

    Args:
        context: What the handlers work with.
        access: Guards everything under `/api/`, the routes added later too.
        client: The web page; None: the one in `web/dist`.
    """
    middlewares = [  # the outermost first
        problems(ids=context.ids),
        refusals(),
        preflights(allowed=access.allowed_origins),
        evened(context.clock),
        authentication(
            authenticator=access.authenticator,
            origins=access.origins,
            trusted_proxy=access.trusted_proxy,
        ),
        counting(context.rate, reads=context.reads, exports=context.exports),
    ]
    app = web.Application(middlewares=middlewares, client_max_size=context.limits.frame_bytes)
    app[CONTEXT], app[_ACCESS] = context, access
    app[following.OPEN_SOCKETS] = following.OpenSockets()
    app.on_response_prepare.append(
        security_headers(
            https=access.https,
            microphone=bool(context.dictation),
            frame_ancestors=access.frame_ancestors,
        )
    )
    app.on_response_prepare.append(readable_by(allowed=access.allowed_origins))
    app.on_shutdown.append(following.close_sockets)
    page = client or StaticClient()
    page.load()
    app[endpoint.DESCRIBED] = endpoints(page)
    app.router.add_routes(
        [web.RouteDef(one.method, one.path, one.serve, {}) for one in app[endpoint.DESCRIBED]]
    )
    if context.programs is not None:
        from routes.mcp_server import McpRoutes  # a second of imports that few need

        app.router.add_routes(McpRoutes(charts=context.programs, hosts=context.link_hosts).routes())
    if access.sign_in is not None:
        app.router.add_routes(SignInRoutes(sign_in=access.sign_in).routes())
        app.on_response_prepare.append(tell_page)
    if access.smart is not None:
        _add_launches(app, context, access, access.smart)
    return app


def _add_launches(
    app: web.Application, context: RouteContext, access: WebAccess, smart: SmartLaunch
) -> None:
    may_be_framed = bool(access.frame_ancestors)
    routes = SmartRoutes(
        smart=smart, authenticator=access.authenticator, may_be_framed=may_be_framed
    )
    app.router.add_routes(routes.routes())
    app[LAUNCHES] = smart
    if access.hub is not None:
        follower = PatientFollower(
            finder=context.finder, reader=context.reader, drafts=context.drafts
        )
        app[FOLLOWING] = Following(
            smart=smart,
            hub=access.hub,
            follower=follower,
            scheduler=context.scheduler,
            clock=context.clock,
        )


def create_runner(app: web.Application, *, handshake_seconds: float) -> web.AppRunner:
    """Return what serves `app`: a client has `handshake_seconds` to send its headers.

    Request lines are not logged: they name conversations and patients.
    """
    return web.AppRunner(
        app,
        access_log=None,
        handle_signals=False,
        handler_cancellation=False,
        keepalive_timeout=handshake_seconds,
        shutdown_timeout=5.0,
    )


def endpoints(page: StaticClient) -> list[endpoint.Endpoint]:
    """Return every route that is described; those of signing in stand apart."""
    states = {"type": "object", "additionalProperties": endpoint.STRING}
    files = {"application/octet-stream": endpoint.BINARY}
    quality = f"{PREFIX}quality"
    return [
        endpoint.Endpoint("GET", "/", page.page, media=endpoint.HTML),
        endpoint.Endpoint("GET", "/operator", page.operator_page, media=endpoint.HTML),
        endpoint.Endpoint("GET", "/worker.js", page.worker, media=files),
        endpoint.Endpoint("GET", "/assets/{name}", page.asset, media=files),
        endpoint.Endpoint("GET", "/healthz", endpoint.healthz, states),
        endpoint.Endpoint("GET", "/readyz", readyz, states, also={"503": states}),
        endpoint.Endpoint("GET", "/metrics", metrics, media={"text/plain": endpoint.STRING}),
        endpoint.Endpoint("GET", "/api/openapi.json", endpoint.show_openapi, endpoint.OBJECT),
        *chats.chat_routes(),
        *export.export_routes(),
        *following.socket_routes(),
        *ag_ui.ag_ui_routes(),
        *user.user_routes(),
        *patient_routes(),
        *round_routes(),
        *operator_routes(),
        *attachment_routes(),
        endpoint.Endpoint(
            "GET", quality, show_quality, endpoint.of(rows=endpoint.rows(endpoint.OBJECT))
        ),
    ]


async def metrics(request: web.Request) -> web.Response:
    """Return the figures of this process; none names a patient, a user or a conversation.

    Raises:
        UnauthenticatedError: the caller shows neither the token nor who it is.
        ForbiddenError: the caller has no role that opens the figures.
    """
    token = request.app[CONTEXT].metrics_token
    access = request.app[_ACCESS]
    handshake = handshake_of(request, trusted_proxy=access.trusted_proxy)
    # A header may hold bytes that are no text: they are compared, too, and not an error.
    shown = (handshake.bearer or "").encode(errors="surrogatepass")
    if token is None or not hmac.compare_digest(shown, token.get_secret_value().encode()):
        principal = await access.authenticator.authenticate(handshake)
        if token is not None and principal.kind == "dev":
            raise UnauthenticatedError
        if not principal.may_watch:
            raise ForbiddenError
    body = generate_latest(request.app[CONTEXT].registry)
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})


async def readyz(request: web.Request) -> web.Response:
    """`GET /readyz`: whether storage and model answer; 503 while one does not."""
    states = await request.app[CONTEXT].readiness.states()
    ready = all(state == "ok" for state in states.values())
    reply = {"status": "ready" if ready else "unavailable", **states}
    return web.json_response(reply, status=200 if ready else 503)
