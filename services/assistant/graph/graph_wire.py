"""What goes over the wire to Microsoft Graph and comes back, and how much of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from yarl import URL

from data_models.errors import AssistantError, AssistantItemGoneError
from data_models.http_answers import Bounds
from data_models.values import read_object

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

    def bounds(self, *, limit_bytes: int) -> Bounds:
        """Return the bounds of one request."""
        return Bounds(self.request_seconds, limit_bytes, connect_seconds=self.connect_seconds)


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


def parsed(status: int, data: bytes) -> GraphAnswer:
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
