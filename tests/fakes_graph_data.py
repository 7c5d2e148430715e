"""One user's mailbox and drive in the fake Microsoft Graph."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from tests.fakes_graph_rules import Refusal, Wish

Row: TypeAlias = dict[str, Any]
Answer: TypeAlias = "list[Row] | tuple[int, Row | None]"

_FILTER_MARK = re.compile(
    r"singleValueExtendedProperties/Any\(ep: ep/id eq '(?P<id>String \{[0-9a-f-]{36}\} Name \w+)'"
    r" and ep/value eq '(?P<value>[^']+)'\)"
)
_FILTER_SPAN = re.compile(r"receivedDateTime (ge|lt) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")


class User:
    """Mailbox, address book, tasks and drive. Ids hold what has to be encoded in addresses.

    Attributes:
        earlier: Files as a listing shows them first that changed while it was made.
        content: What the files hold, by id.
        sent: How often each draft was sent.
        transactions: The events that were made with a `transactionId`, as they were made.
    """

    def __init__(self, *, ids: Iterator[int]) -> None:
        self._ids = ids
        self.events: dict[str, Row] = {}
        self.messages: dict[str, Row] = {}
        self.contacts: dict[str, Row] = {}
        self.tasks: dict[str, Row] = {}
        self.items: dict[str, Row] = {}
        self.earlier: list[Row] = []
        self.content: dict[str, bytes] = {}
        self.sent: dict[str, int] = {}
        self.transactions: dict[str, Row] = {}
        self.own_list = self._id("list")
        lists = [("Shopping", "none"), ("Flagged", "flaggedEmails"), ("Tasks", "defaultList")]
        self.lists = [
            {
                "id": self.own_list if known == "defaultList" else self._id("list"),
                "displayName": name,
                "wellknownListName": known,
            }
            for name, known in lists
        ]

    # -- what is there ------------------------------------------------------------------------

    def event(
        self, subject: str, start: datetime, end: datetime, *, series: str = "", **fields: Any
    ) -> str:
        """Put an event into the calendar; return its id."""
        row = {
            "subject": subject,
            "start": start.astimezone(UTC),
            "end": end.astimezone(UTC),
            "isAllDay": False,
            "isCancelled": False,
            "location": {"displayName": ""},
            "attendees": [],
            "type": "occurrence" if series else "singleInstance",
            "seriesMasterId": series or None,
            **fields,
        }
        return self._put(self.events, "event", row)

    def whole_day(self, subject: str, day: date, *, days: int = 1) -> str:
        """Put whole days into the calendar: they have a date and no zone."""
        start = datetime.combine(day, time(), UTC)
        return self.event(subject, start, start + timedelta(days=days), isAllDay=True)

    def message(
        self, subject: str, text: str, *, sender: str, received: datetime, folder: str = "inbox"
    ) -> str:
        """Put a message into a folder; return its id."""
        address = f"{sender.partition(' ')[0].lower()}@x.example"
        person = {"emailAddress": {"name": sender, "address": address}}
        row = {
            "subject": subject,
            "body": {"contentType": "html", "content": f"<p>{text}</p>"},
            "from": person,
            "toRecipients": [],
            "receivedDateTime": f"{received.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "isRead": False,
            "isDraft": folder == "drafts",
            "parentFolderId": folder,
        }
        return self._put(self.messages, "message", row)

    def contact(self, name: str, *, email: str = "", **fields: Any) -> str:
        """Put a contact into the address book; return its id."""
        row = {
            "displayName": name,
            "emailAddresses": [{"name": name, "address": email}] if email else [],
            "mobilePhone": None,
            "businessPhones": [],
            "homePhones": [],
            "companyName": None,
            **fields,
        }
        return self._put(self.contacts, "contact", row)

    def task(self, title: str, *, due: date | None = None, status: str = "notStarted") -> str:
        """Put a task into the default list; return its id."""
        at = None if due is None else {"dateTime": f"{due}T00:00:00.0000000", "timeZone": "UTC"}
        row: Row = {
            "title": title,
            "status": status,
            "dueDateTime": at,
            "body": {"content": "", "contentType": "text"},
            "linkedResources": [],
        }
        return self._put(self.tasks, "task", row)

    def file(self, name: str, data: bytes, *, modified: datetime) -> str:
        """Put a file into the drive; return its id."""
        row = {
            "name": name,
            "size": len(data),
            "lastModifiedDateTime": f"{modified.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "file": {"mimeType": "text/plain"},
        }
        found = self._put(self.items, "item", row)
        self.content[found] = data
        return found

    def folder(self, name: str) -> str:
        """Put a folder into the drive; return its id."""
        row = {
            "name": name,
            "size": 0,
            "lastModifiedDateTime": "2026-01-01T00:00:00Z",
            "folder": {"childCount": 1},
        }
        return self._put(self.items, "item", row)

    def touch(self, rows: dict[str, Row], item_id: str, **fields: Any) -> None:
        """Change something as another client does it."""
        rows[item_id] = {**rows[item_id], **fields, "@odata.etag": self._etag()}

    # -- requests -----------------------------------------------------------------------------

    def answer(self, wish: Wish, *, download: str) -> Answer:
        """Do what is wished: the rows of a listing, or a status and a row."""
        acts: dict[str, Callable[[Wish], Answer]] = {
            "GET calendarView": self._view,
            "GET events": lambda one: [_event(row, one) for row in self._marked(self.events, one)],
            "POST events": self._post_event,
            "GET events/{id}": lambda one: (200, _event(self._one(self.events, one), one)),
            "PATCH events/{id}": self._patch_event,
            "DELETE events/{id}": lambda one: self._delete(self.events, one),
            "GET mailFolders/inbox/messages": self._inbox,
            "GET mailFolders/sentitems": lambda _: (200, {"id": "sentitems"}),
            "GET messages": lambda one: [
                _message(row, one) for row in self._marked(self.messages, one)
            ],
            "GET messages/{id}": lambda one: (200, _message(self._one(self.messages, one), one)),
            "POST messages": lambda one: (201, _message(self._draft(one.body), one)),
            "POST messages/{id}/createReply": self._reply,
            "POST messages/{id}/send": self._send,
            "GET contacts": self._contacts,
            "POST contacts": lambda one: (201, self._created(self.contacts, "contact", one.body)),
            "GET contacts/{id}": lambda one: (200, self._one(self.contacts, one)),
            "PATCH contacts/{id}": lambda one: (200, self._patched(self.contacts, one)),
            "DELETE contacts/{id}": lambda one: self._delete(self.contacts, one),
            "GET todo/lists": lambda _: list(self.lists),
            "GET todo/lists/{id}/tasks": self._list_tasks,
            "POST todo/lists/{id}/tasks": self._post_task,
            "GET todo/lists/{id}/tasks/{id}": lambda one: (200, self._one(self.tasks, one)),
            "PATCH todo/lists/{id}/tasks/{id}": lambda one: (200, self._patched(self.tasks, one)),
            "DELETE todo/lists/{id}/tasks/{id}": lambda one: self._delete(self.tasks, one),
            "GET drive/root/search(q='TEXT')": self._search,
            "GET drive/root/delta": lambda _: [*self.earlier, *self.items.values()],
            "GET drive/items/{id}": lambda one: (200, self._item(one, download)),
            "DELETE drive/items/{id}": lambda one: self._delete(self.items, one),
        }
        return acts[wish.action](wish)

    def _one(self, rows: dict[str, Row], wish: Wish) -> Row:
        is_file = wish.part == "documents"
        if wish.part == "tasks" and wish.ids[0] != self.own_list:
            raise Refusal(404, "ErrorItemNotFound", is_fault=False)
        if wish.ids[-1] not in rows:
            raise Refusal(404, "itemNotFound" if is_file else "ErrorItemNotFound", is_fault=False)
        row = rows[wish.ids[-1]]
        if wish.etag and wish.etag != row["@odata.etag"]:
            raise Refusal(412, "ErrorIrresolvableConflict", is_fault=False)
        return row

    def _delete(self, rows: dict[str, Row], wish: Wish) -> Answer:
        self._one(rows, wish)
        del rows[wish.ids[-1]]
        return 204, None

    def _created(self, rows: dict[str, Row], kind: str, body: Row) -> Row:
        return rows[self._put(rows, kind, dict(body))]

    def _patched(self, rows: dict[str, Row], wish: Wish) -> Row:
        self._one(rows, wish)
        self.touch(rows, wish.ids[-1], **_dated(wish.body))
        return rows[wish.ids[-1]]

    # -- calendar -----------------------------------------------------------------------------

    def _view(self, wish: Wish) -> Answer:
        start, end = (
            datetime.fromisoformat(wish.query[name]) for name in ("startDateTime", "endDateTime")
        )
        rows = [one for one in self.events.values() if one["start"] < end and one["end"] > start]
        return [_event(row, wish) for row in sorted(rows, key=lambda one: one["start"])]

    def _post_event(self, wish: Wish) -> Answer:
        body = {
            **wish.body,
            "start": _instant(wish.body["start"]),
            "end": _instant(wish.body["end"]),
        }
        known = self.transactions.get(body.get("transactionId", ""))
        if known is not None:
            # It answers a repeated request with the event; another one, and that of an event
            # that was changed or deleted since, it refuses.
            row = self.events.get(known["id"], {})
            if any(row.get(name) != body[name] for name in ("subject", "start", "end")):
                raise Refusal(409, "ErrorDuplicateTransactionId", is_fault=False)
            return 201, _event(row, wish)
        if body["end"] < body["start"]:
            raise Refusal(400, "ErrorInvalidParameter", "an event ends before it begins")
        fresh: Row = {
            "isAllDay": False,
            "isCancelled": False,
            "attendees": [],
            "type": "singleInstance",
        }
        row = self._created(self.events, "event", {**fresh, **body})
        if body.get("transactionId"):
            self.transactions[body["transactionId"]] = row
        return 201, _event(row, wish)

    def _patch_event(self, wish: Wish) -> Answer:
        row = self._one(self.events, wish)
        times: Row = {
            name: _instant(wish.body[name]) for name in ("start", "end") if name in wish.body
        }
        if row["seriesMasterId"] and "start" in times:
            self._check_series(row, times["start"])
        self.touch(self.events, row["id"], **{**wish.body, **times})
        return 200, _event(self.events[row["id"]], wish)

    def _check_series(self, row: Row, start: datetime) -> None:
        days = sorted(
            one["start"].date()
            for one in self.events.values()
            if one["seriesMasterId"] == row["seriesMasterId"] and one["id"] != row["id"]
        )
        before = [day for day in days if day < row["start"].date()]
        after = [day for day in days if day > row["start"].date()]
        if (before and start.date() <= before[-1]) or (after and start.date() >= after[0]):
            raise Refusal(400, "ErrorOccurrenceCrossingBoundary", is_fault=False)

    # -- mail ---------------------------------------------------------------------------------

    def _inbox(self, wish: Wish) -> Answer:
        rows = [one for one in self.messages.values() if one["parentFolderId"] == "inbox"]
        if "$search" in wish.query:
            rows = [row for row in rows if _is_found(row, wish.query["$search"].strip('"'))]
        spans = wish.query.get("$filter", "")
        for part in spans.split(" and ") if spans else []:
            match = _FILTER_SPAN.fullmatch(part)
            if match is None:
                raise Refusal(400, "BadRequest", f"$filter={spans}")
            rows = [
                row for row in rows if (row["receivedDateTime"] >= match[2]) == (match[1] == "ge")
            ]
        rows.sort(key=lambda row: str(row["receivedDateTime"]), reverse=True)
        return [_message(row, wish) for row in rows]

    def _draft(self, body: Row) -> Row:
        fresh = {
            "isDraft": True,
            "isRead": True,
            "parentFolderId": "drafts",
            "receivedDateTime": "2026-11-22T08:00:00Z",
        }
        return self._created(self.messages, "message", {**fresh, **body})

    def _reply(self, wish: Wish) -> Answer:
        answered = self._one(self.messages, wish)
        message = {"toRecipients": [answered["from"]], **wish.body.get("message", {})}
        row = self._draft(message)
        self.touch(self.messages, row["id"], conversationId=wish.ids[0])
        return 201, _message(row, wish)

    def _send(self, wish: Wish) -> Answer:
        row = self._one(self.messages, wish)
        if not row["isDraft"]:
            raise Refusal(400, "ErrorInvalidRequest", "only drafts are sent")
        self.sent[row["id"]] = self.sent.get(row["id"], 0) + 1
        self.touch(self.messages, row["id"], isDraft=False, parentFolderId="sentitems")
        return 202, None

    def _marked(self, rows: dict[str, Row], wish: Wish) -> list[Row]:
        match = _FILTER_MARK.fullmatch(wish.query.get("$filter", ""))
        if match is None:
            raise Refusal(400, "BadRequest", f"$filter={wish.query.get('$filter')}")
        mark = {"id": match["id"], "value": match["value"]}
        return [
            row for row in rows.values() if mark in row.get("singleValueExtendedProperties", [])
        ]

    # -- contacts, tasks, drive ---------------------------------------------------------------

    def _contacts(self, wish: Wish) -> Answer:
        if "$filter" in wish.query:
            return self._marked(self.contacts, wish)
        return sorted(self.contacts.values(), key=lambda row: str(row["displayName"]))

    def _list_tasks(self, wish: Wish) -> Answer:
        if wish.ids[0] != self.own_list:
            return []
        rows = list(self.tasks.values())
        if "$filter" in wish.query:
            if wish.query["$filter"] != "status ne 'completed'":
                raise Refusal(400, "BadRequest", wish.query["$filter"])
            rows = [row for row in rows if row["status"] != "completed"]
        if wish.query.get("$expand") == "linkedResources":
            return rows
        return [{name: row[name] for name in row if name != "linkedResources"} for row in rows]

    def _post_task(self, wish: Wish) -> Answer:
        if wish.ids[0] != self.own_list:
            raise Refusal(404, "ErrorItemNotFound", is_fault=False)
        fresh = {"status": "notStarted", "body": {"content": "", "contentType": "text"}}
        return 201, self._created(self.tasks, "task", {**fresh, **_dated(wish.body)})

    def _search(self, wish: Wish) -> Answer:
        if "'" in wish.ids[0].replace("''", ""):
            raise Refusal(400, "BadRequest", "a single quote ends the text")
        words = wish.ids[0].replace("''", "'").lower().split()
        return [row for row in self.items.values() if all(w in row["name"].lower() for w in words)]

    def _item(self, wish: Wish, download: str) -> Row:
        row = self._one(self.items, wish)
        if "@microsoft.graph.downloadUrl" not in wish.selected:
            return row
        return {**row, "@microsoft.graph.downloadUrl": f"{download}/{row['id']}?tempauth=v1"}

    # -- ids ----------------------------------------------------------------------------------

    def _put(self, rows: dict[str, Row], kind: str, row: Row) -> str:
        # Ids of files are plain, those of mailboxes are base64.
        found = f"01{kind.upper()}{next(self._ids)}" if kind == "item" else self._id(kind)
        rows[found] = {**row, "id": found, "@odata.etag": self._etag()}
        rows[found].setdefault("seriesMasterId", None)
        return found

    def _id(self, kind: str) -> str:
        return f"AAkALgAA/{kind}+{next(self._ids)}=="

    def _etag(self) -> str:
        return f'W/"change+{next(self._ids)}=="'


def _event(row: Row, wish: Wish) -> Row:
    times = {}
    for name in ("start", "end"):
        at = row[name]
        shown = at if row["isAllDay"] else at.astimezone(ZoneInfo(wish.zone))
        times[name] = {"dateTime": f"{shown:%Y-%m-%dT%H:%M:%S}.0000000", "timeZone": wish.zone}
    return _chosen({**row, **times}, wish)


def _message(row: Row, wish: Wish) -> Row:
    body = row["body"]
    plain = re.sub(r"<[^>]+>", "", body["content"])
    shown = {"contentType": "text", "content": plain} if wish.as_text else body
    return _chosen({**row, "body": shown, "bodyPreview": plain[:255]}, wish)


def _chosen(row: Row, wish: Wish) -> Row:
    if not wish.selected:
        return row
    kept = {"id", "@odata.etag", *wish.selected}
    return {name: value for name, value in row.items() if name in kept}


def _instant(value: Row) -> datetime:
    at = datetime.fromisoformat(value["dateTime"][:19])
    if at.time() == time() and value["timeZone"] != "UTC":
        # Midnights of a named zone are whole days, which float.
        return at.replace(tzinfo=UTC)
    return at.replace(tzinfo=ZoneInfo(value["timeZone"])).astimezone(UTC)


def _dated(body: Row) -> Row:
    """Return the fields of a task as To Do keeps them: the day, in UTC."""
    if not body.get("dueDateTime"):
        return body
    day = body["dueDateTime"]["dateTime"][:10]
    return {**body, "dueDateTime": {"dateTime": f"{day}T00:00:00.0000000", "timeZone": "UTC"}}


def _is_found(row: Row, search: str) -> bool:
    held = " ".join(
        (row["subject"], row["body"]["content"], row["from"]["emailAddress"]["name"])
    ).casefold()
    received = row["receivedDateTime"][:10]
    for term in search.split():
        if term.startswith("received>="):
            fits = received >= term[10:]
        elif term.startswith("received<="):
            fits = received <= term[10:]
        else:
            fits = term in held
        if not fits:
            return False
    return True
