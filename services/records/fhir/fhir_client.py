"""A thin FHIR client: one origin, one token, bounded answers, no redirects."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal
from urllib.parse import unquote

import aiohttp
from pydantic import ValidationError
from pydantic_core import from_json
from yarl import URL

from data_models import errors
from data_models.clock import Clock
from data_models.errors import RecordsUnreadableError
from data_models.http_answers import Bounds, HttpAnswer, Tries, ask, repeat, seconds_asked
from services.own_sign_in import TokenSource, ask_signed
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
        limits = self.limits
        tries = Tries(limits.attempts, limits.load_seconds, limits.retry_after_seconds)
        return await repeat(partial(self._ask, url, request), tries)

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

    async def _ask(self, url: URL, request: FhirRequest) -> FhirAnswer:
        status, said, data = await ask_signed(self.tokens, partial(self._send, url, request))
        reason, limit = f"the records server answered {status}", self.limits.page_bytes
        if status in (401, 403):
            raise errors.RecordsRefusedError(reason, status=status)
        if 300 <= status < 400:
            raise errors.RecordsUnreadableError("the records server redirected")
        if status in (429, 502, 503, 504):
            wait_seconds = seconds_asked(said, now=self.clock.now())
            raise errors.RecordsBusyError(reason, wait_seconds=wait_seconds)
        if status >= 500 and status != 501:
            raise errors.RecordsUnavailableError(reason)
        if len(data) > limit:
            raise errors.RecordsUnreadableError(f"a page is over {limit} bytes")
        return _answer(status, data)

    async def _send(self, url: URL, request: FhirRequest, token: str) -> HttpAnswer:
        signed = {"Authorization": f"Bearer {token}"} if token else {}
        headers = {"Accept": "application/fhir+json", **signed, **request.headers}
        limits = self.limits
        bounds = Bounds(limits.request_seconds, limits.page_bytes + 1, limits.connect_seconds)
        try:
            return await ask(
                self.session, request.method, url, bounds, headers=headers, data=request.data
            )
        except aiohttp.ClientConnectionError as error:
            # None of these is `from error`: aiohttp quotes URLs, which name the patient.
            raise errors.RecordsBusyError(_unanswered(error)) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise errors.RecordsUnavailableError(_unanswered(error)) from None


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
