"""A Microsoft Graph on loopback: one tenant's mailboxes and drives, and its token endpoint.

It takes what the v1.0 reference takes and nothing else: addresses, query options, headers and
bodies that are not in it are refused as Graph refuses them, and listed in `faults`. It pages in
small pages, throttles, ends tokens, and loses answers after it has done what was asked.

    async with FakeGraph() as graph:
        graph.user("ada").event("Tumor board", start, end)
        ...
        assert graph.faults == []
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, quote, unquote

import orjson
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.fakes_graph_data import Row, User
from tests.fakes_graph_rules import Refusal, wish_of

TENANT = "11111111-2222-3333-4444-555555555555"
CLIENT_ID = "99999999-8888-7777-6666-555555555555"
CLIENT_SECRET = "app~secret"
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Asked:
    """One request, as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class _Plan:
    """What happens to the next requests instead of, or after, the work."""

    status: int = 0
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    is_lost: bool = False


class FakeGraph:
    """One tenant. `page_size` bounds every page, whatever `$top` asks for."""

    def __init__(self, *, page_size: int = 2, token_seconds: int = 3_599) -> None:
        self.page_size = page_size
        self.token_seconds = token_seconds
        self.asked: list[Asked] = []
        self.faults: list[str] = []
        self.tokens_issued = 0
        self.downloads = 0
        self.denied: set[str] = set()
        self._users: dict[str, User] = {}
        self._plans: deque[_Plan] = deque()
        self._app_tokens: set[str] = set()
        self._own_tokens: dict[str, str] = {}
        self._skips: dict[str, tuple[str, int]] = {}
        self._acts: dict[int, Callable[[], None]] = {}
        self._numbers = count(1)
        app = web.Application()
        app.router.add_post("/{tenant}/oauth2/v2.0/token", self._issue)
        app.router.add_get("/download/{item}", self._download)
        app.router.add_route("*", "/{path:.*}", self._graph)
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self._server.close()

    @property
    def origin(self) -> str:
        """Where it is, and where its tokens come from."""
        return str(self._server.make_url("/")).rstrip("/")

    @property
    def base_url(self) -> str:
        """Where v1.0 begins."""
        return f"{self.origin}/v1.0"

    def settings(self, **users: str) -> dict[str, str]:
        """The settings of a server that works on it; `users` by principal id."""
        return {
            "ASSISTANT_BACKEND": "graph",
            "GRAPH_BASE_URL": self.base_url,
            "ENTRA_AUTHORITY": self.origin,
            "GRAPH_TENANT_ID": TENANT,
            "GRAPH_CLIENT_ID": CLIENT_ID,
            "GRAPH_CLIENT_SECRET": CLIENT_SECRET,
            "GRAPH_USERS": ",".join(f"{name}={user}" for name, user in users.items()),
            "GRAPH_FILE_HOSTS": "localhost",
        }

    def user(self, name: str) -> User:
        """Return a user by id or name; one that is not there yet is made."""
        return self._users.setdefault(name, User(ids=self._numbers))

    def clear(self) -> None:
        """Forget users, plans and what was asked; tokens stay."""
        for rows in (self._users, self._plans, self._acts, self.asked, self.faults):
            rows.clear()
        self.denied = set()

    # -- faults -------------------------------------------------------------------------------

    def fail_next(self, status: int, *, times: int = 1, code: str = "", **headers: str) -> None:
        """Answer the next requests with `status`; `Retry_After` stands for the header."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._plans.extend(_Plan(status, code, named) for _ in range(times))

    def lose_next(self, *, times: int = 1) -> None:
        """Do what the next requests ask, and break the connection off instead of answering."""
        self._plans.extend(_Plan(is_lost=True) for _ in range(times))

    def before(self, number: int, act: Callable[[], None]) -> None:
        """Call `act` before the `number`-th request from the start is answered."""
        self._acts[number] = act

    def pass_next(self, *, times: int = 1) -> None:
        """Treat the next requests as usual, before what is planned after them."""
        self._plans.extend(_Plan() for _ in range(times))

    def end_tokens(self) -> None:
        """Let every token that was issued end now."""
        self._app_tokens.clear()

    def own_token(self, token: str, *, user: str) -> None:
        """Accept a user's own token."""
        self._own_tokens[token] = user

    def paths(self, method: str = "") -> list[str]:
        """The addresses asked for, in order, without the user's part."""
        rows = [one for one in self.asked if method in ("", one.method)]
        return [one.path.partition("/")[2].partition("/")[2] for one in rows]

    # -- tokens -------------------------------------------------------------------------------

    async def _issue(self, request: web.Request) -> web.Response:
        wanted = {
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "scope": f"{self.origin}/.default",
            "grant_type": "client_credentials",
        }
        form = {name: str(value) for name, value in (await request.post()).items()}
        if request.match_info["tenant"] != TENANT or form != wanted:
            return web.json_response({"error": "invalid_client"}, status=401)
        self.tokens_issued += 1
        token = f"app-token-{self.tokens_issued}"
        self._app_tokens.add(token)
        seconds = self.token_seconds
        return web.json_response(
            {"token_type": "Bearer", "expires_in": seconds, "access_token": token}
        )

    def _caller(self, request: web.Request) -> str | None:
        """Return whose token it is, "" for the application's, None for nobody's."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind == "Bearer" and token in self._app_tokens:
            return ""
        return self._own_tokens.get(token) if kind == "Bearer" else None

    # -- requests -----------------------------------------------------------------------------

    async def _graph(self, request: web.Request) -> web.StreamResponse:
        data = await request.read()
        # Without decoding: a `/` within an id is `%2F`, and must not be another segment.
        raw_path, _, raw_query = request.raw_path.partition("?")
        query = dict(parse_qsl(raw_query, keep_blank_values=True))
        path = raw_path.removeprefix("/v1.0/")
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            body = orjson.loads(data) if data else None
        except orjson.JSONDecodeError:
            body = data
        self.asked.append(Asked(request.method, path, query, headers, body))
        self._acts.pop(len(self.asked), lambda: None)()
        plan = self._plans.popleft() if self._plans else _Plan()
        if plan.status:
            return _error(plan.status, plan.code or "generalException", plan.headers)
        try:
            answer = self._answered(request, path, query, headers, body)
        except Refusal as refusal:
            if refusal.is_fault:
                self.faults.append(f"{request.method} {path}: {refusal.why}")
            answer = _error(refusal.status, refusal.code)
        if plan.is_lost and request.transport is not None:
            request.transport.close()
            await asyncio.sleep(0)
        return answer

    def _answered(
        self,
        request: web.Request,
        path: str,
        query: dict[str, str],
        headers: dict[str, str],
        body: Any,
    ) -> web.Response:
        caller = self._caller(request)
        if caller is None:
            raise Refusal(401, "InvalidAuthenticationToken")
        if not _GUID.fullmatch(headers.get("client-request-id", "")):
            raise Refusal(400, "BadRequest", "client-request-id is no GUID")
        user, rest = self._user(path, caller)
        wish = wish_of(request.method, rest, query, headers, body)
        if wish.part in self.denied:
            raise Refusal(403, "ErrorAccessDenied", is_fault=False)
        listing = user.answer(wish, download=f"http://localhost:{self._server.port}/download")
        if isinstance(listing, list):
            return self._page(request.raw_path, listing, query)
        status, row = listing
        applied = {"Preference-Applied": wish.preference} if wish.preference else {}
        if row is None:
            return web.Response(status=status)
        return web.json_response(row, status=status, headers=applied)

    def _user(self, path: str, caller: str) -> tuple[User, str]:
        first, _, rest = path.partition("/")
        if first == "me":
            if not caller:
                raise Refusal(400, "BadRequest", "/me needs a delegated token")
            return self._users[caller], rest
        name, _, rest = rest.partition("/")
        user = self._users.get(unquote(name))
        if first != "users" or user is None:
            raise Refusal(404, "ErrorInvalidUser", is_fault=False)
        if caller and self._users[caller] is not user:
            raise Refusal(403, "ErrorAccessDenied", is_fault=False)
        return user, rest

    def _page(self, address: str, rows: list[Row], query: dict[str, str]) -> web.Response:
        path, _, options = address.partition("?")
        kept = [part for part in options.split("&") if part and not part.startswith("$skiptoken")]
        place, at = "?".join([path, "&".join(kept)]), 0
        if "$skiptoken" in query:
            # The whole address has to come back as it was given.
            same, at = self._skips.get(query["$skiptoken"], ("", 0))
            if same != place:
                raise Refusal(400, "BadRequest", "the next page's address was changed")
        size = min(self.page_size, int(query.get("$top", "10")))
        body: Row = {"@odata.context": f"{self.base_url}/$metadata", "value": rows[at : at + size]}
        if at + size < len(rows):
            token = f"X'{next(self._numbers)}'"
            self._skips[token] = (place, at + size)
            following = "&".join([*kept, f"$skiptoken={quote(token)}"])
            body["@odata.nextLink"] = f"{self.origin}{path}?{following}"
        elif path.endswith("/delta"):
            body["@odata.deltaLink"] = f"{self.origin}{path}?token=latest"
        return web.json_response(body)

    async def _download(self, request: web.Request) -> web.Response:
        if "Authorization" in request.headers:
            self.faults.append("a token was sent to where files are")
        self.downloads += 1
        for user in self._users.values():
            data = user.content.get(request.match_info["item"])
            if data is not None:
                return web.Response(body=data, content_type="application/octet-stream")
        return web.Response(status=404)


def _error(status: int, code: str, headers: dict[str, str] | None = None) -> web.Response:
    inner = {"request-id": "00000000-0000-0000-0000-000000000000", "date": "2026-11-22T00:00:00"}
    # The message quotes what people wrote, as Graph's own do.
    error = {"code": code, "message": "The item 'Anna Schmidt' is wrong.", "innerError": inner}
    return web.json_response({"error": error}, status=status, headers=headers)
