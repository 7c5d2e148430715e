"""Signing in with a browser: `/auth/…`, and `/smart/…`, where a record system sends its users."""

from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from aiohttp import web
from pydantic import BaseModel

from data_models.errors import BadFrameError, ForbiddenError, UnauthenticatedError
from data_models.values import read_value
from routes.requests.context import CONTEXT, SESSION_COOKIE, SIGN_OUT, known_of
from routes.requests.json_input import json_reply
from routes.streams.following import opening
from services.access.limits import body_of
from services.access.principal import Authenticator, Handshake
from services.access.sign_in.oidc import SESSION_SECONDS, OidcSignIn
from services.access.sign_in.oidc_provider import LOGIN_SECONDS
from services.access.sign_in.smart import SmartLaunch

# `/auth/…`: signing in and out with a browser (spec page 15).

LOGIN_COOKIE = "__Host-rounds-login"


class SignInRoutes:
    """The handlers around one `OidcSignIn`."""

    def __init__(self, *, sign_in: OidcSignIn) -> None:
        self._sign_in = sign_in

    def routes(self) -> list[web.RouteDef]:
        """Return the routes; only `/auth/logout` is behind the door."""
        return [
            web.get("/auth/login", self.login),
            web.get("/auth/callback", self.callback),
            web.post(SIGN_OUT, self.logout),
        ]

    async def login(self, _: web.Request) -> web.StreamResponse:
        """`GET /auth/login`: sends the browser to the provider."""
        url, kept = await self._sign_in.begin()
        answer = web.Response(status=302, headers={"Location": url, "Cache-Control": "no-store"})
        # Lax: the provider sends the browser back from its own site.
        set_cookie(answer, LOGIN_COOKIE, kept, seconds=LOGIN_SECONDS, same_site="Lax")
        return answer

    async def callback(self, request: web.Request) -> web.StreamResponse:
        """`GET /auth/callback`: the provider sends the browser back.

        Raises:
            UnauthenticatedError: not the sign-in that this browser began.
            ForbiddenError: the user has no role here.
            SignInUnavailableError: the provider does not answer.
        """
        kept, asked = request.cookies.get(LOGIN_COOKIE), request.query
        if kept is None or "code" not in asked or len(asked.getall("state", [])) != 1:
            raise UnauthenticatedError
        session_id = await self._sign_in.finish(kept=kept, state=asked["state"], code=asked["code"])
        answer = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
        set_cookie(answer, LOGIN_COOKIE, "", seconds=0, same_site="Lax")
        set_cookie(
            answer, SESSION_COOKIE, session_id, seconds=int(SESSION_SECONDS), same_site="Strict"
        )
        return answer

    async def logout(self, request: web.Request) -> web.StreamResponse:
        """`POST /auth/logout`: forgets the session; says where the browser goes then."""
        url = await self._sign_in.end(request.cookies.get(SESSION_COOKIE, ""))
        answer = json_reply({"url": url})
        set_cookie(answer, SESSION_COOKIE, "", seconds=0, same_site="Strict")
        return answer


async def tell_page(request: web.Request, answer: web.StreamResponse) -> None:
    """For `app.on_response_prepare`: where to sign in, or what to show with every write."""
    if answer.status == 401:
        answer.headers["X-Sign-In"] = "/auth/login"
    principal = known_of(request)
    if principal is not None and principal.csrf is not None:
        answer.headers["X-CSRF-Token"] = principal.csrf


def set_cookie(
    answer: web.Response, name: str, value: str, *, seconds: int, same_site: str
) -> None:
    """Set a cookie that no script reads, for this host alone."""
    answer.set_cookie(
        name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite=same_site
    )


LAUNCH_COOKIE = "__Host-rounds-launch"
_FRAMES = frozenset({"iframe", "frame", "embed", "object"})


class _Shown(BaseModel):
    ticket: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartRoutes:
    """The handlers around one `SmartLaunch`.

    Attributes:
        authenticator: Knows who was let in, as at every later request.
        may_be_framed: Whether any page may show ours in a frame.
    """

    smart: SmartLaunch
    authenticator: Authenticator
    may_be_framed: bool

    def routes(self) -> list[web.RouteDef]:
        """Return the routes; none is behind the door."""
        return [
            web.get("/smart/launch", self.launch),
            web.get("/smart/callback", self.callback),
            web.post("/smart/token", self.token),
        ]

    async def launch(self, request: web.Request) -> web.StreamResponse:
        """`GET /smart/launch`: sends the browser to the record system."""
        framed = self._is_framed(request)
        url, kept = await self.smart.begin(
            issuer=_one(request, "iss"), launch=_one(request, "launch")
        )
        answer = web.Response(status=302, headers={"Location": url, "Cache-Control": "no-store"})
        _keep(answer, kept, seconds=LOGIN_SECONDS, framed=framed)
        return answer

    async def callback(self, request: web.Request) -> web.StreamResponse:
        """`GET /smart/callback`: a new conversation opens the patient's chart; no other changes.

        Raises:
            UnauthenticatedError: not a launch that this browser began, or one that came back.
            ForbiddenError: not from a practitioner, or without a patient.
            ChartClosedError: the patient is nobody's here, or not open to the user.
            SignInUnavailableError: the record system does not answer.
        """
        framed = self._is_framed(request)
        kept, state = request.cookies.get(LAUNCH_COOKIE), _one(request, "state")
        code = _one(request, "code")
        if kept is None or state is None or code is None:
            raise UnauthenticatedError
        launched = await self.smart.finish(kept=kept, state=state, code=code)
        session_id = await self.smart.admit(launched, framed=framed)
        handshake = Handshake(
            peer=request.remote,
            host=request.host,
            only_reads=True,
            authorization=f"Bearer {session_id}" if framed else None,
            session_id=None if framed else session_id,
        )
        user = await self.authenticator.authenticate(handshake)
        context = request.app[CONTEXT]
        today = context.clock.now().date()
        patient = await context.finder.same_person(launched.patient, owner=user.id, today=today)
        chat = await context.reader.create(owner=user.id)
        await self.smart.bind(session_id, launched, conversation_id=chat, patient_id=patient)
        message_id = f"launch-{sha256(launched.once.encode()).hexdigest()}"
        now = context.clock.now()
        await context.scheduler.submit(opening(user, chat, patient, message_id=message_id, now=now))
        place = f"/#/chats/{quote(chat)}"
        if framed:
            place = f"/#/launch/{self.smart.ticket(session_id)}/{quote(chat)}"
        answer = web.Response(status=303, headers={"Location": place, "Cache-Control": "no-store"})
        _keep(answer, "", seconds=0, framed=framed)
        if not framed:
            seconds = int(SESSION_SECONDS)
            set_cookie(answer, SESSION_COOKIE, session_id, seconds=seconds, same_site="Strict")
        return answer

    async def token(self, request: web.Request) -> web.StreamResponse:
        """`POST /smart/token`: the bearer token of a page in a frame, for its ticket, once."""
        refusal = BadFrameError("the body must be an object with `ticket`")
        shown = read_value(await body_of(request), _Shown, refusal=refusal)
        answer = json_reply({"token": await self.smart.redeem(shown.ticket)})
        answer.headers["Cache-Control"] = "no-store"
        return answer

    def _is_framed(self, request: web.Request) -> bool:
        is_framed = request.headers.get("Sec-Fetch-Dest") in _FRAMES
        if is_framed and not self.may_be_framed:
            raise ForbiddenError
        return is_framed


def _one(request: web.Request, name: str) -> str | None:
    """Return a parameter; what comes twice is not for us to choose from."""
    values = request.query.getall(name, [])
    if len(values) > 1:
        raise UnauthenticatedError
    return values[0] if values else None


def _keep(answer: web.Response, kept: str, *, seconds: int, framed: bool) -> None:
    """Set the cookie of a launch; in a frame it belongs to the frame's page and ours together."""
    # Lax: the record system sends the browser back from its own site.
    same_site = "None" if framed else "Lax"
    set_cookie(answer, LAUNCH_COOKIE, kept, seconds=seconds, same_site=same_site)
    if framed:
        line = f"{answer.cookies.pop(LAUNCH_COOKIE).OutputString()}; Partitioned"
        answer.headers.add("Set-Cookie", line)
