"""A thin client of Microsoft Graph: one origin, a token for each principal, bounded answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from uuid import NAMESPACE_URL, uuid5

import aiohttp
import structlog
from yarl import URL

from data_models import errors
from data_models.clock import Clock, IdSource
from data_models.http_answers import HttpAnswer, Refusal, Tries, ask, fetch, repeat, seconds_asked
from services.assistant.graph.graph_wire import GraphAnswer, GraphLimits, Json, Method, parsed
from services.own_sign_in import TokenSource, ask_signed

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
        tries = Tries(
            limits.attempts, limits.operation_seconds, limits.retry_after_seconds,
            first_pause=limits.wait_seconds, most_pause=5.0, jitter=limits.wait_seconds,
        )  # fmt: skip
        try:
            return await repeat(partial(self._ask, call, principal_id), tries)
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
        refusal = Refusal(errors.AssistantUnavailableError, "the download")
        return await fetch(self.session, "GET", url, bounds, refusal=refusal)

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

    async def _send(self, call: GraphCall, token: str) -> HttpAnswer:
        headers = {
            **call.headers,
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            "client-request-id": call.reference,
        }
        bounds = self.limits.bounds(limit_bytes=self.limits.answer_bytes + 1)
        try:
            return await ask(
                self.session, call.method, call.url, bounds, json=call.body, headers=headers
            )
        except aiohttp.ClientConnectorError as error:
            raise errors.AssistantBusyError(_unanswered(error)) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            # None of these is `from error`: aiohttp quotes addresses, which name users and items.
            raise call.broken(_unanswered(error)) from None

    def _checked(self, call: GraphCall, answer: HttpAnswer) -> GraphAnswer:
        status, limit = answer.status, self.limits.answer_bytes
        if len(answer.body) > limit:
            raise errors.AssistantError(f"the answer is over {limit} bytes")
        if status in _PAUSED:
            wait = seconds_asked(answer.headers, now=self.clock.now())
            raise errors.AssistantBusyError(f"Microsoft Graph answered {status}", wait_seconds=wait)
        if status in _BROKEN:
            raise call.broken(f"Microsoft Graph answered {status}")
        if 300 <= status < 400:
            raise errors.AssistantError("Microsoft Graph redirected")
        return parsed(status, answer.body)


def guid_of(name: str) -> str:
    """Return a name in the form that Graph asks clients for."""
    return str(uuid5(NAMESPACE_URL, name))


def _unanswered(error: Exception) -> str:
    return f"Microsoft Graph did not answer ({type(error).__name__})"
