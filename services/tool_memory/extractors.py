"""Finds entities in what tools returned, whatever back end wrote it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from data_models.tool_memory import EntityType

CLINIC_PREFIX = "Appointment/"
"""Ids of the patient's appointments begin so; those of the user's own calendar do not."""
ROWS_LIMIT = 200
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Found:
    """One entity inside a result.

    Attributes:
        is_whole: A full record, which replaces what a list's short entry left.
        source: The back end that its id belongs to.
    """

    entity_id: str
    entity_type: EntityType
    display_name: str
    data: Mapping[str, Any]
    is_whole: bool = False
    source: str = ""


Extractor: TypeAlias = Callable[[Mapping[str, Any]], Found | None]
"""Knows one kind of entity by the shape of its row; None if it is none of this kind."""


def _own(row: Mapping[str, Any]) -> Found | None:
    """Rows of our own tools, which say what they are."""
    kind = next((one for one in _OWN_KINDS if one == row.get("kind")), None)
    return None if kind is None else _found(row, kind, ("title", "subject", "name"))


def _calendar_event(row: Mapping[str, Any]) -> Found | None:
    """Events of Google, Microsoft Graph, iCalendar and our own back end."""
    if not ({"start", "start_time", "dtstart"} & row.keys()) or "resourceType" in row:
        return None
    return _found(row, "calendar_event", ("summary", "subject", "title", "name"))


def _fhir_appointment(row: Mapping[str, Any]) -> Found | None:
    """Appointments of a FHIR server."""
    if row.get("resourceType") != "Appointment":
        return None
    return _found(row, "calendar_event", ("description", "comment"), fallback="Appointment")


def _clinic_appointment(row: Mapping[str, Any]) -> Found | None:
    """Rows of the clinic's own tools; what is only proposed is no appointment."""
    if not {"appointment_id", "start"} <= row.keys() or "action" in row:
        return None
    named = {
        "id": f"{CLINIC_PREFIX}{row['appointment_id']}",
        "title": row.get("doctor") or row.get("doctor_id"),
        "start": row["start"],
        "reasonCode": row.get("reason"),
    }
    return _found(named, "calendar_event", ("title",), fallback="Appointment")


def _email(row: Mapping[str, Any]) -> Found | None:
    """Mails of Gmail, Microsoft Graph and our own back end."""
    payload = row.get("payload")
    if isinstance(payload, Mapping) and isinstance(payload.get("headers"), list):
        return _gmail(row, payload["headers"])
    if "subject" not in row or not ({"from", "sender", "toRecipients", "to"} & row.keys()):
        return None
    return _found(row, "email", ("subject",), fallback="(no subject)")


def _gmail(row: Mapping[str, Any], headers: Sequence[Any]) -> Found | None:
    named: dict[str, Any] = {
        str(one.get("name", "")).lower(): one.get("value")
        for one in headers
        if isinstance(one, Mapping)
    }
    known: dict[str, Any] = {
        name: named[name] for name in ("subject", "from", "to", "date") if name in named
    }
    return _found({**row, **known}, "email", ("subject",), fallback="(no subject)")


def _contact(row: Mapping[str, Any]) -> Found | None:
    """People of Google, Microsoft Graph and our own back end."""
    marks = {"emailAddresses", "email", "phone", "mobilePhone", "phoneNumbers", "givenName"}
    if not (marks & row.keys()) or "subject" in row or "start" in row:
        return None
    names = row.get("names")
    first = names[0] if isinstance(names, list) and names else {}
    shown = first.get("displayName") if isinstance(first, Mapping) else None
    return _found(row, "contact", ("displayName", "name", "display_name"), fallback=shown)


_TASK_MARKS = frozenset(
    {"due", "dueDateTime", "due_date", "completed", "completedDateTime", "importance"}
)


def _task(row: Mapping[str, Any]) -> Found | None:
    """Things to do."""
    is_task = bool(_TASK_MARKS & row.keys()) or row.get("kind") == "tasks#task"
    if not is_task or {"subject", "start"} & row.keys():
        return None
    return _found(row, "task", ("title", "name", "summary"))


def _document(row: Mapping[str, Any]) -> Found | None:
    """Files; the documents of a patient's record stand in views, which hold no entities."""
    marks = {"file_name", "filename", "mimeType", "file", "webUrl", "media_type"}
    if not marks & row.keys():
        return None
    return _found(row, "document", ("name", "file_name", "filename", "title"))


_OWN_KINDS: tuple[EntityType, ...] = ("calendar_event", "email", "contact", "task", "document")
_SHAPES: Sequence[Extractor] = (
    _own,
    _fhir_appointment,
    _clinic_appointment,
    _email,
    _calendar_event,
    _task,
    _document,
    _contact,
)
_IDS = frozenset({"id", "uid", "resourceName", "appointment_id"})


def _of_known_shape(row: Mapping[str, Any]) -> Found | None:
    """Return what has an id."""
    if _IDS.isdisjoint(row):
        return None
    return next((found for one in _SHAPES if (found := one(row)) is not None), None)


EXTRACTORS: Sequence[Extractor] = (_of_known_shape,)
_DELETED_STATUS = {"cancelled", "canceled", "deleted", "entered-in-error"}


def extracted(data: Mapping[str, Any], extractors: Sequence[Extractor] = EXTRACTORS) -> list[Found]:
    """Return the entities of a result, in its order, each id once."""
    found: dict[tuple[str, str], Found] = {}
    for one in _entities(data, extractors, _DEPTH):
        if len(found) < ROWS_LIMIT:
            found.setdefault((one.entity_type, one.entity_id), one)
    return list(found.values())


def is_cancelled(found: Found) -> bool:
    """Whether the row says of itself that it is gone."""
    return str(found.data.get("status", "")).lower() in _DELETED_STATUS


def _entities(
    node: Mapping[str, Any] | list[Any], extractors: Sequence[Extractor], depth: int
) -> Iterator[Found]:
    """Yield entities; who made or changed one, its parts and its people are not others."""
    if depth == 0:
        return
    if not isinstance(node, list):
        found = [hit for each in extractors if (hit := each(node)) is not None]
        if found:
            yield found[0]
            return
    inside = node if isinstance(node, list) else list(node.values())
    for value in [one for one in inside[:ROWS_LIMIT] if isinstance(one, dict | list)]:
        yield from _entities(value, extractors, depth - 1)


def _found(
    row: Mapping[str, Any], kind: EntityType, names: Sequence[str], *, fallback: Any = None
) -> Found | None:
    own = next((row[name] for name in ("id", "uid", "resourceName") if row.get(name)), None)
    name = next((row[one] for one in names if isinstance(row.get(one), str)), fallback)
    if not isinstance(own, str | int) or not isinstance(name, str) or not name.strip():
        return None
    return Found(
        entity_id=str(own)[:300],
        entity_type=kind,
        display_name=" ".join(name.split())[:200],
        data=row,
        is_whole=bool(row.get("etag") or row.get("@odata.etag") or row.get("is_whole")),
        source=str(row.get("calendar") or row.get("account") or ""),
    )
