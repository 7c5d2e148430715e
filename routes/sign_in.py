"""`/auth/…`: signing in and out with a browser (spec page 15)."""

from aiohttp import web

from data_models.errors import UnauthenticatedError
from routes.auth import SESSION_COOKIE, SIGN_OUT, known_of
from routes.replies import json_reply
from services.access.begun import LOGIN_SECONDS
from services.access.oidc import SESSION_SECONDS, OidcSignIn

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
