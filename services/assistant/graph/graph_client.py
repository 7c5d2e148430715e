"""A thin client of Microsoft Graph: one origin, a token for each principal, bounded answers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

import aiohttp
import structlog
from yarl import URL

from data_models import errors, http_answers
from data_models.clock import Clock, IdSource
from data_models.errors import AssistantError, AssistantItemGoneError
from data_models.values import read_object
from services.own_sign_in import TokenSource, ask_signed

Json: TypeAlias = dict[str, Any]
Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]

# An unknown 404 may mean the mailbox or a wrong address: only these say that the item is gone.
_GONE = {"erroritemnotfound", "itemnotfound", "errorinvalididmalformed"}
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}")


@dataclass(frozen=True, slots=True)
class GraphLimits:
    """Bounds on one operation; a tool call ends after 30 s, so they fit into that.

    Attributes:
        operation_seconds: For one request with its repetitions.
        wait_seconds: The first pause where the service names none; it doubles.
        retry_after_seconds: A service that asks for a longer pause is not waited for.
        pages: Pages of one listing that are followed.
    """

    connect_seconds: float = 2.0
    request_seconds: float = 10.0
    operation_seconds: float = 20.0
    attempts: int = 4
    wait_seconds: float = 0.2
    retry_after_seconds: float = 10.0
    answer_bytes: int = 5_000_000
    pages: int = 50

    def bounds(self, *, limit_bytes: int) -> http_answers.Bounds:
        """Return the bounds of one request."""
        return http_answers.Bounds(
            self.request_seconds, limit_bytes, connect_seconds=self.connect_seconds
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAnswer:
    """A status, its JSON object, and Graph's own code where it is an error."""

    status: int
    body: Json
    code: str = ""

    @property
    def is_done(self) -> bool:
        """Whether Graph did it."""
        return 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Whether the item is not there (any more)."""
        return self.status in (400, 404, 410) and self.code.lower() in _GONE

    @property
    def is_stale(self) -> bool:
        """Whether somebody else changed the item meanwhile."""
        return self.status in (409, 412)

    def value(self) -> Json:
        """Return the object.

        Raises:
            AssistantItemGoneError: what was asked for is gone.
            AssistantError: Graph refused.
        """
        if self.is_done:
            return self.body
        if self.is_gone:
            raise AssistantItemGoneError("the item is no longer there")
        raise AssistantError(f"Microsoft Graph answered {self.status} {self.code}".rstrip())


def segment(text: str) -> str:
    """Return `text` as one segment of a path."""
    return quote(text, safe="")


def address(base: URL, path: str, query: Mapping[str, str] | None = None) -> URL:
    """Return the address of `path`, whose segments are encoded, below `base`."""
    pairs = (
        f"{quote(name, safe='$')}={quote(text, safe='')}" for name, text in (query or {}).items()
    )
    mark = "?" if query else ""
    return URL(f"{base}/{path}{mark}{'&'.join(pairs)}", encoded=True)


def serves(base: URL, url: URL) -> bool:
    """Tell whether `url` lies below `base`; tokens go nowhere else."""
    if not url.is_absolute() or ".." in url.parts:
        return False
    return url.origin() == base.origin() and url.path.startswith(f"{base.path.rstrip('/')}/")


def _parsed(status: int, data: bytes) -> GraphAnswer:
    """Return the answer; one that is no JSON object counts only where it is not needed.

    Raises:
        AssistantError: a success whose body is not a JSON object.
    """
    if (body := read_object(data or b"{}")) is None:
        if 200 <= status < 300:
            raise AssistantError("the answer is not a JSON object")
        body = {}
    return GraphAnswer(status=status, body=body, code=_code_in(body) if status >= 400 else "")


def _code_in(body: Json) -> str:
    error = body.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""


# With these the service says that it did nothing; after the others it may have.
_PAUSED = {429, 503, 509}
_BROKEN = {408, 500, 502, 504}
_NO_MAILBOX = {
    "errorinvaliduser",
    "mailboxnotenabledforrestapi",
    "mailboxnotsupportedforrestapi",
    "request_resourcenotfound",
    "resourcenotfound",
}

logger = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class GraphCall:
    """One request, and how it goes.

    Attributes:
        reference: By which Microsoft finds it.
        is_repeatable: Whether doing it twice leaves what doing it once does; then it is asked
            again after a lost answer.
        was_lost: Whether the answer to a change was lost.
    """

    method: Method
    url: URL
    reference: str
    body: Json | None = None
    headers: Mapping[str, str]
    is_repeatable: bool = True
    was_lost: bool = False

    def broken(self, reason: str) -> errors.AssistantError:
        """Return the error of a request that may have been carried out."""
        self.was_lost = self.method != "GET"
        if not self.was_lost or self.is_repeatable:
            return errors.AssistantBusyError(reason)
        self.log("answer_lost")
        return errors.AssistantUnsureError("the answer to a change was lost")

    def log(self, reason: str, answer: GraphAnswer | None = None) -> None:
        """Tell operators why it was not done."""
        more = {} if answer is None else {"status": answer.status, "code": answer.code}
        logger.warning(
            "graph_not_done", method=self.method, reason=reason, ref=self.reference, **more
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphClient:
    """Asks Graph at `base_url`; its owner closes the session."""

    base_url: URL
    token_of: Callable[[str], TokenSource]
    session: aiohttp.ClientSession
    clock: Clock
    ids: IdSource
    limits: GraphLimits

    async def ask(self, call: GraphCall, *, principal_id: str) -> GraphAnswer:
        """Return the answer of success, or of a refusal that is about the item.

        Raises:
            AssistantRefusedError: no token, no permission, or no mailbox.
            AssistantUnavailableError: no answer, or a pause longer than we wait.
            AssistantUnsureError: a change may have happened, and its answer is lost.
            AssistantError: an answer that cannot be used.
        """
        limits = self.limits
        tries = http_answers.Tries(
            limits.attempts, limits.operation_seconds, limits.retry_after_seconds,
            first_pause=limits.wait_seconds, most_pause=5.0, jitter=limits.wait_seconds,
        )  # fmt: skip
        try:
            return await http_answers.repeat(partial(self._ask, call, principal_id), tries)
        except errors.AssistantUnavailableError:
            call.log("unavailable")
            if call.was_lost:
                raise errors.AssistantUnsureError("the answer to a change was lost") from None
            raise

    async def download(self, url: URL, *, limit_bytes: int) -> bytes:
        """Return the bytes at an address that Graph signed; our token does not go there.

        Raises:
            AssistantUnavailableError: they could not be had.
        """
        bounds = self.limits.bounds(limit_bytes=limit_bytes)
        refusal = http_answers.Refusal(errors.AssistantUnavailableError, "the download")
        return await http_answers.fetch(self.session, "GET", url, bounds, refusal=refusal)

    async def _ask(self, call: GraphCall, principal_id: str) -> GraphAnswer:
        sent = await ask_signed(self.token_of(principal_id), partial(self._send, call))
        answer = self._checked(call, sent)
        if answer.status in (401, 403) or answer.code.lower() in _NO_MAILBOX:
            call.log("refused", answer)
            raise errors.AssistantRefusedError(
                f"Microsoft Graph answered {answer.status} {answer.code}"
            )
        if not answer.is_done and not answer.is_gone and not answer.is_stale:
            call.log("not_done", answer)
        return answer

    async def _send(self, call: GraphCall, token: str) -> http_answers.HttpAnswer:
        headers = {
            **call.headers,
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            "client-request-id": call.reference,
        }
        bounds = self.limits.bounds(limit_bytes=self.limits.answer_bytes + 1)
        try:
            return await http_answers.ask(
                self.session, call.method, call.url, bounds, json=call.body, headers=headers
            )
        except aiohttp.ClientConnectorError as error:
            raise errors.AssistantBusyError(_unanswered(error)) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            # None of these is `from error`: aiohttp quotes addresses, which name users and items.
            raise call.broken(_unanswered(error)) from None

    def _checked(self, call: GraphCall, answer: http_answers.HttpAnswer) -> GraphAnswer:
        status, limit = answer.status, self.limits.answer_bytes
        if len(answer.body) > limit:
            raise errors.AssistantError(f"the answer is over {limit} bytes")
        if status in _PAUSED:
            wait = http_answers.seconds_asked(answer.headers, now=self.clock.now())
            raise errors.AssistantBusyError(f"Microsoft Graph answered {status}", wait_seconds=wait)
        if status in _BROKEN:
            raise call.broken(f"Microsoft Graph answered {status}")
        if 300 <= status < 400:
            raise errors.AssistantError("Microsoft Graph redirected")
        return _parsed(status, answer.body)


def guid_of(name: str) -> str:
    """Return a name in the form that Graph asks clients for."""
    return str(uuid5(NAMESPACE_URL, name))


def _unanswered(error: Exception) -> str:
    return f"Microsoft Graph did not answer ({type(error).__name__})"
