"""A thin FHIR client: one origin, one token, bounded answers, no redirects."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

import aiohttp
import stamina
from pydantic import ValidationError
from pydantic_core import from_json
from yarl import URL

from data_models import errors
from data_models.clock import Clock
from data_models.errors import RecordsUnreadableError
from data_models.http_answers import Bounds, ask, pause_of, seconds_asked
from services.own_sign_in import TokenSource
from services.records.resources.fhir_types import OperationOutcome

# The entries of one small Bundle: an answer of a server, or a file of our own.


def bundle_entries_of(data: bytes) -> list[dict[str, Any]]:
    """Return the entries of a Bundle.

    Raises:
        RecordsUnreadableError: `data` is not a FHIR Bundle in JSON.
    """
    try:
        bundle = from_json(data, allow_inf_nan=False)
    except ValueError:
        # Not `from error`: the parser's message may quote the record.
        raise RecordsUnreadableError("the bundle is not JSON") from None
    return bundle_entries(bundle)


def bundle_entries(bundle: Any) -> list[dict[str, Any]]:
    """Return the entries of parsed JSON that should be a Bundle.

    Raises:
        RecordsUnreadableError: it is not one.
    """
    if not isinstance(bundle, dict) or bundle.get("resourceType") != "Bundle":
        raise RecordsUnreadableError("the answer is not a FHIR Bundle")
    entries = bundle.get("entry", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RecordsUnreadableError("the Bundle's entries are not a list of objects")
    return entries


_CODE = re.compile(r"[a-z-]{1,40}")
_DECODINGS = 6


@dataclass(frozen=True, slots=True)
class FhirLimits:
    """How much and how long we are willing to read.

    Attributes:
        retry_after_seconds: A server that asks for a longer wait is not waited for.
        load_seconds: For one whole patient.
        attachments: Texts kept outside their documents that are fetched.
    """

    connect_seconds: float = 2.0
    request_seconds: float = 10.0
    load_seconds: float = 30.0
    attempts: int = 3
    retry_after_seconds: float = 5.0
    page_bytes: int = 20_000_000
    pages: int = 50
    entries: int = 10_000
    attachments: int = 100


@dataclass(frozen=True, slots=True)
class FhirAnswer:
    """A status and its JSON object; None when an error came without one."""

    status: int
    body: dict[str, Any] | None

    def issue_codes(self) -> tuple[str, ...]:
        """Return the codes of an OperationOutcome, never its text."""
        try:
            outcome = OperationOutcome.model_validate(self.body or {})
        except ValidationError:
            return ()
        codes = [issue.code or "" for issue in outcome.issue]
        return tuple(code for code in codes if _CODE.fullmatch(code))[:5]


@dataclass(frozen=True, slots=True)
class FhirRequest:
    """What is sent besides the address. Writes are conditional, so that asking again is safe."""

    method: Literal["GET", "PUT", "POST"]
    data: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


_READ = FhirRequest("GET")


@dataclass(frozen=True, slots=True)
class Pages:
    """The entries of a search, and whether there were more."""

    entries: list[dict[str, Any]]
    truncated: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class FhirClient:
    """Talks to the FHIR server at `base_url`; its owner closes the session."""

    base_url: URL
    session: aiohttp.ClientSession
    clock: Clock
    limits: FhirLimits
    tokens: TokenSource | None = None

    async def ask(self, url: URL, request: FhirRequest = _READ) -> FhirAnswer:
        """Return the answer of success or of a client error that is not about access.

        Args:
            request: A write may or may not have happened where an error is raised.

        Raises:
            RecordsUnavailableError: no answer, or the server is busy after all attempts.
            RecordsRefusedError: 401 or 403.
            RecordsUnreadableError: a foreign `url`, a redirect, too long, or not JSON.
        """
        if not self.serves(url):
            raise errors.RecordsUnreadableError("the records server pointed to another place")
        attempts = stamina.retry_context(
            on=self._wait, attempts=self.limits.attempts, timeout=self.limits.load_seconds,
            wait_initial=0.1, wait_max=2.0, wait_jitter=0.1,
        )  # fmt: skip
        async for attempt in attempts:
            with attempt:
                return await self._ask_twice(url, request)
        raise errors.RecordsUnavailableError("no attempt was made")

    async def pages(self, url: URL, *, pages: int | None = None) -> Pages | FhirAnswer:
        """Return all entries from `url` on, or the first page's answer if it is an error.

        Args:
            pages: How many are read at most, where that is less than the limit.

        Raises:
            RecordsError: as `ask`; a later page that fails fails the whole.
        """
        entries: list[dict[str, Any]] = []
        seen: set[URL] = set()
        following: URL | None = url
        while following is not None:
            if len(seen) >= (pages or self.limits.pages) or len(entries) >= self.limits.entries:
                return Pages(entries[: self.limits.entries], truncated=True)
            if following in seen:
                raise errors.RecordsUnreadableError("the records server's pages go in a circle")
            seen.add(following)
            answer = await self.ask(following)
            if answer.status != 200 and len(seen) == 1:
                return answer
            entries.extend(entry for entry in bundle_entries(answer.body) if not _is_remark(entry))
            following = _next_link(answer.body or {}, following)
        return Pages(entries[: self.limits.entries], len(entries) > self.limits.entries)

    def serves(self, url: URL) -> bool:
        """Return whether `url` lies under our base URL; the token goes nowhere else."""
        base = self.base_url
        inside = url.path == base.path or url.path.startswith(f"{base.path.rstrip('/')}/")
        if not url.is_absolute() or _climbs(url.raw_path):
            return False
        return url.origin() == base.origin() and inside

    async def _ask_twice(self, url: URL, request: FhirRequest) -> FhirAnswer:
        """Ask, and once more with a new token where the server says that ours has ended."""
        token = await self.tokens.token() if self.tokens else ""
        try:
            return await self._send(url, request, token)
        except errors.RecordsRefusedError as error:
            has_ended = error.status == 401 and self.tokens is not None
            if not has_ended or not (self.tokens and self.tokens.note_refusal(token)):
                raise
        return await self._send(url, request, await self.tokens.token())

    async def _send(self, url: URL, request: FhirRequest, token: str) -> FhirAnswer:
        signed = {"Authorization": f"Bearer {token}"} if token else {}
        headers = {"Accept": "application/fhir+json", **signed, **request.headers}
        limit, limits = self.limits.page_bytes, self.limits
        bounds = Bounds(limits.request_seconds, limit + 1, limits.connect_seconds)
        try:
            status, said, data = await ask(
                self.session, request.method, url, bounds, headers=headers, data=request.data
            )
        except aiohttp.ClientConnectionError as error:
            # None of these is `from error`: aiohttp quotes URLs, which name the patient.
            raise errors.RecordsBusyError(_unanswered(error)) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise errors.RecordsUnavailableError(_unanswered(error)) from None
        if status in (401, 403):
            raise errors.RecordsRefusedError(f"the records server answered {status}", status=status)
        if 300 <= status < 400:
            raise errors.RecordsUnreadableError("the records server redirected")
        if status in (429, 502, 503, 504):
            wait = seconds_asked(said, now=self.clock.now())
            raise errors.RecordsBusyError(
                f"the records server answered {status}", wait_seconds=wait
            )
        if status >= 500 and status != 501:
            raise errors.RecordsUnavailableError(f"the records server answered {status}")
        if len(data) > limit:
            raise errors.RecordsUnreadableError(f"a page is over {limit} bytes")
        return _answer(status, data)

    def _wait(self, error: Exception) -> bool | float:
        """Tell stamina whether to try again, and after how many seconds if the server said."""
        if not isinstance(error, errors.RecordsBusyError):
            return False
        return pause_of(error.wait_seconds, longest_seconds=self.limits.retry_after_seconds)


def _climbs(path: str) -> bool:
    """Whether a path leads upwards once it is decoded, however often a proxy does that."""
    for _ in range(_DECODINGS):
        if ".." in path.replace("\\", "/").split("/"):
            return True
        plain = unquote(path)
        if plain == path:
            return False
        path = plain
    return True


def _answer(status: int, data: bytes) -> FhirAnswer:
    try:
        body = from_json(data, allow_inf_nan=False)
    except ValueError:
        if status != 200:
            return FhirAnswer(status, None)
        # Not `from error`: the parser's message may quote the record.
        raise errors.RecordsUnreadableError("the answer is not JSON") from None
    if isinstance(body, dict):
        return FhirAnswer(status, body)
    if status != 200:
        return FhirAnswer(status, None)
    raise errors.RecordsUnreadableError("the answer is not a JSON object")


def _is_remark(entry: dict[str, Any]) -> bool:
    """Return whether an entry is the server's word about the search, and nothing of a chart."""
    resource = entry.get("resource")
    return isinstance(resource, dict) and resource.get("resourceType") == "OperationOutcome"


def _next_link(bundle: dict[str, Any], current: URL) -> URL | None:
    links = bundle.get("link", [])
    if not isinstance(links, list):
        raise errors.RecordsUnreadableError("the Bundle's links are not a list")
    for link in links:
        if isinstance(link, dict) and link.get("relation") == "next":
            target = link.get("url")
            if not isinstance(target, str):
                raise errors.RecordsUnreadableError("a link of the Bundle has no address")
            try:
                return current.join(URL(target))
            except ValueError:
                raise errors.RecordsUnreadableError("a link of the Bundle is no address") from None
    return None


def _unanswered(error: Exception) -> str:
    return f"the records server did not answer ({type(error).__name__})"
