"""What the Microsoft Graph v1.0 reference lets clients ask for; all else is refused."""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote
from zoneinfo import available_timezones

_SELECTABLE = {
    "calendar": "id subject start end isAllDay isCancelled location attendees type seriesMasterId "
    "transactionId organizer body bodyPreview",
    "mail": "id subject from toRecipients receivedDateTime sentDateTime bodyPreview body isRead "
    "isDraft parentFolderId conversationId displayName",
    "contacts": "id displayName givenName surname emailAddresses mobilePhone businessPhones "
    "homePhones companyName",
    "documents": "id name size lastModifiedDateTime file folder deleted "
    "@microsoft.graph.downloadUrl",
    "tasks": "",  # To Do answers 400 to any $select on tasks
}
_MARKED = {"singleValueExtendedProperties"}
_EVENT = {
    *("subject", "start", "end", "isAllDay", "location", "transactionId", "attendees", "body"),
    *_MARKED,
}
_MESSAGE = {"subject", "body", "toRecipients", *_MARKED}
_CONTACT = {
    *("displayName", "givenName", "surname", "emailAddresses", "companyName"),
    *("mobilePhone", "businessPhones", "homePhones"),
}
_TASK = {"title", "status", "dueDateTime", "body", "linkedResources"}
_LIST = {"$select", "$top", "$filter", "$orderby"}


@dataclass(frozen=True)
class _Route:
    method: str
    pattern: re.Pattern[str]
    part: str
    options: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    body: frozenset[str] | None = None


def _route(
    method: str,
    template: str,
    part: str,
    options: set[str] | None = None,
    *,
    needs: set[str] | None = None,
    body: set[str] | None = None,
) -> _Route:
    pattern = re.compile(re.escape(template).replace(r"\{id\}", "([^/]+)").replace("TEXT", "(.+)"))
    return _Route(
        method,
        pattern,
        part,
        frozenset(options or ()) | frozenset(needs or ()),
        frozenset(needs or ()),
        None if body is None else frozenset(body),
    )


_ROUTES = (
    _route(
        "GET",
        "calendarView",
        "calendar",
        {"$select", "$orderby", "$top"},
        needs={"startDateTime", "endDateTime"},
    ),
    _route("GET", "events", "calendar", _LIST),
    _route("POST", "events", "calendar", body=_EVENT),
    _route("GET", "events/{id}", "calendar", {"$select"}),
    _route("PATCH", "events/{id}", "calendar", body=_EVENT - {"transactionId"}),
    _route("DELETE", "events/{id}", "calendar"),
    _route("GET", "mailFolders/inbox/messages", "mail", {*_LIST, "$search"}),
    _route("GET", "mailFolders/sentitems", "mail", {"$select"}),
    _route("GET", "messages", "mail", _LIST),
    _route("GET", "messages/{id}", "mail", {"$select"}),
    _route("POST", "messages", "mail", body=_MESSAGE),
    _route("POST", "messages/{id}/createReply", "mail", body={"message", "comment"}),
    _route("POST", "messages/{id}/send", "mail"),
    _route("GET", "contacts", "contacts", _LIST),
    _route("POST", "contacts", "contacts", body=_CONTACT | _MARKED),
    _route("GET", "contacts/{id}", "contacts", {"$select"}),
    _route("PATCH", "contacts/{id}", "contacts", body=_CONTACT),
    _route("DELETE", "contacts/{id}", "contacts"),
    _route("GET", "todo/lists", "tasks", {"$top"}),
    _route("GET", "todo/lists/{id}/tasks", "tasks", {"$filter", "$top", "$expand"}),
    _route("POST", "todo/lists/{id}/tasks", "tasks", body=_TASK),
    _route("GET", "todo/lists/{id}/tasks/{id}", "tasks", {"$expand"}),
    _route("PATCH", "todo/lists/{id}/tasks/{id}", "tasks", body=_TASK),
    _route("DELETE", "todo/lists/{id}/tasks/{id}", "tasks"),
    _route("GET", "drive/root/search(q='TEXT')", "documents", {"$select", "$top"}),
    _route("GET", "drive/root/delta", "documents", {"$select", "$top"}),
    _route("GET", "drive/items/{id}", "documents", {"$select"}),
    _route("DELETE", "drive/items/{id}", "documents"),
)
_PREFERENCES = re.compile(
    r'(?P<name>IdType|outlook\.timezone|outlook\.body-content-type)="(?P<value>[^"]+)"'
)
_ZONES = available_timezones() | {"UTC", "Pacific Standard Time"}
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?")
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)")


class Refusal(Exception):  # noqa: N818 - an answer rather than an error
    """An answer that is no success.

    Attributes:
        is_fault: Whether a client that reads the reference would not have asked so.
    """

    def __init__(
        self, status: int, code: str, why: str = "", *, is_fault: bool | None = None
    ) -> None:
        super().__init__(why or code)
        self.status = status
        self.code = code
        self.why = why or code
        self.is_fault = status == 400 if is_fault is None else is_fault


@dataclass(frozen=True)
class Wish:
    """A request that the reference allows."""

    action: str
    part: str
    ids: tuple[str, ...]
    query: dict[str, str]
    body: dict[str, Any]
    etag: str = ""
    zone: str = "UTC"
    as_text: bool = False
    preference: str = ""
    selected: tuple[str, ...] = field(default=())


def wish_of(
    method: str, path: str, query: dict[str, str], headers: dict[str, str], body: Any
) -> Wish:
    """Return what is wished.

    Raises:
        Refusal: it is not in the reference.
    """
    route, ids = _routed(method, path)
    _check_options(route, query)
    _check_body(route, headers, body)
    prefer = _preferences(route, headers.get("prefer", ""))
    select = query.get("$select", "")
    _check_select(route.part, select)
    if "if-match" in headers and not headers["if-match"].startswith('W/"'):
        raise Refusal(400, "malformedEntityTag")
    return Wish(
        action=f"{method} {_template(route)}",
        part=route.part,
        ids=ids,
        query=query,
        body=body if isinstance(body, dict) else {},
        etag=headers.get("if-match", ""),
        zone=prefer.get("outlook.timezone", "UTC"),
        as_text=prefer.get("outlook.body-content-type") == "text",
        preference=", ".join(f'{name}="{value}"' for name, value in prefer.items()),
        selected=tuple(select.split(",")) if select else (),
    )


def _routed(method: str, path: str) -> tuple[_Route, tuple[str, ...]]:
    for route in _ROUTES:
        match = route.pattern.fullmatch(path)
        if match and route.method == method:
            return route, tuple(unquote(one) for one in match.groups())
    raise Refusal(400, "BadRequest", "no such address")


def _template(route: _Route) -> str:
    plain = route.pattern.pattern.replace("([^/]+)", "{id}").replace("(.+)", "TEXT")
    return re.sub(r"\\(.)", r"\1", plain)


def _check_options(route: _Route, query: dict[str, str]) -> None:
    unknown = set(query) - route.options - {"$skiptoken"}
    if unknown:
        raise Refusal(400, "BadRequest", f"options {sorted(unknown)}")
    if not route.needs <= set(query):
        raise Refusal(400, "ErrorInvalidParameter", "the view has no span")
    if any(not _ISO.fullmatch(query[name]) for name in route.needs):
        raise Refusal(400, "ErrorInvalidParameter", "the span is not ISO 8601")
    if "$top" in query and not 1 <= int(query["$top"]) <= 1_000:
        raise Refusal(400, "ErrorInvalidParameter", "$top")
    search = query.get("$search")
    if search is not None and {"$filter", "$orderby"} & set(query):
        raise Refusal(400, "SearchWithFilter", "a search takes no filter and no order")
    if search is not None and not re.fullmatch(r'"[^"]+"', search):
        raise Refusal(400, "BadRequest", "a search stands in double quotes")
    order = query.get("$orderby", "").partition(" ")[0]
    spans = query.get("$filter", "")
    if route.part == "mail" and order and spans and not spans.startswith(order):
        raise Refusal(400, "InefficientFilter")


def _check_body(route: _Route, headers: dict[str, str], body: Any) -> None:
    if route.body is None:
        _check_no_body(route, headers, body)
        return
    if not headers.get("content-type", "").startswith("application/json"):
        raise Refusal(415, "UnsupportedMediaType", is_fault=True)
    if not isinstance(body, dict) or not set(body) <= route.body:
        raise Refusal(400, "BadRequest", "the body has other fields")
    if not set(body.get("message", {})) <= _MESSAGE:
        raise Refusal(400, "BadRequest", "the message has other fields")
    for name in ("start", "end", "dueDateTime"):
        if body.get(name) is not None:
            _check_time(body[name], whole_day=bool(body.get("isAllDay")))


def _check_no_body(route: _Route, headers: dict[str, str], body: Any) -> None:
    if body is not None:
        raise Refusal(400, "BadRequest", "a body where none belongs")
    if route.method == "POST" and headers.get("content-length") != "0":
        raise Refusal(411, "LengthRequired", is_fault=True)


def _check_time(value: Any, *, whole_day: bool) -> None:
    if not isinstance(value, dict) or set(value) != {"dateTime", "timeZone"}:
        raise Refusal(400, "BadRequest", "no dateTimeTimeZone")
    if not _DATE_TIME.fullmatch(value["dateTime"]):
        raise Refusal(400, "ErrorPropertyValidationFailure", "the time has another form")
    if value["timeZone"] not in _ZONES:
        raise Refusal(400, "TimeZoneNotSupportedException")
    if whole_day and not value["dateTime"].endswith("T00:00:00"):
        raise Refusal(400, "ErrorPropertyValidationFailure", "a whole day begins at midnight")


def _preferences(route: _Route, text: str) -> dict[str, str]:
    parts = [part for part in (one.strip() for one in text.split(",")) if part]
    matches = [_PREFERENCES.fullmatch(part) for part in parts]
    if None in matches:
        raise Refusal(400, "BadRequest", f"preferences {text}")
    found = {match["name"]: match["value"] for match in matches if match}
    if route.part != "documents" and found.get("IdType") != "ImmutableId":
        raise Refusal(400, "BadRequest", "without immutable ids, ids change when items are moved")
    if found.get("outlook.timezone", "UTC") not in _ZONES:
        raise Refusal(400, "TimeZoneNotSupportedException")
    return found


def _check_select(part: str, select: str) -> None:
    wanted = set(select.split(",")) if select else set()
    if not wanted <= set(_SELECTABLE[part].split()):
        raise Refusal(400, "RequestBroker--ParseUri", f"$select={select}")
