"""Whole results of Google and Microsoft 365, as their references show them: one entity each."""

from datetime import UTC, datetime
from typing import Any

import pytest

from data_models.tool_memory import EntityType
from services.tool_memory.extractors import extracted
from services.tool_memory.shapes import searchable_texts, start_of

GOOGLE_EVENT = {
    "kind": "calendar#event",
    "etag": '"3181161784712000"',
    "id": "4eahs9ghkhrvkld72hogu9ph3e",
    "status": "confirmed",
    "htmlLink": "https://www.google.com/calendar/event?eid=x",
    "summary": "Tumor board",
    "creator": {"id": "114", "email": "anna@hospital.example", "displayName": "Anna Schmidt"},
    "organizer": {"email": "anna@hospital.example", "self": True},
    "start": {"dateTime": "2026-11-25T15:00:00+01:00", "timeZone": "Europe/Berlin"},
    "end": {"dateTime": "2026-11-25T16:00:00+01:00", "timeZone": "Europe/Berlin"},
    "attendees": [{"id": "7", "email": "x@hospital.example", "displayName": "Anna Schmidt"}],
    "conferenceData": {"entryPoints": [{"uri": "https://meet.example/x"}], "conferenceId": "x"},
    "reminders": {"useDefault": True},
}
GMAIL = {
    "id": "18c9",
    "threadId": "18c9",
    "labelIds": ["INBOX"],
    "snippet": "Dear all",
    "internalDate": "1764082800000",
    "payload": {
        "mimeType": "multipart/mixed",
        "filename": "",
        "headers": [
            {"name": "From", "value": "Anna Schmidt <anna@hospital.example>"},
            {"name": "Subject", "value": "Tumor board"},
            {"name": "Date", "value": "Tue, 25 Nov 2025 15:00:00 +0000"},
        ],
        "parts": [{"partId": "1", "mimeType": "text/plain", "filename": "a.txt", "body": {}}],
    },
}
GOOGLE_TASK = {
    "kind": "tasks#task",
    "id": "MTA3",
    "title": "Tumor board",
    "status": "needsAction",
    "updated": "2026-11-20T08:00:00.000Z",
}
DRIVE_FILE = {
    "kind": "drive#file",
    "id": "1BxiMVs",
    "name": "Tumor board",
    "mimeType": "application/pdf",
    "modifiedTime": "2026-11-25T15:00:00.000Z",
    "owners": [{"displayName": "Anna", "emailAddress": "a@h.example", "permissionId": "1"}],
    "lastModifyingUser": {"id": "3", "displayName": "Anna", "email": "a@h.example"},
}
PERSON = {
    "resourceName": "people/c1",
    "etag": "%EgUB",
    "names": [{"displayName": "Tumor board", "familyName": "board", "metadata": {"primary": True}}],
    "emailAddresses": [{"value": "tb@hospital.example", "type": "work"}],
    "phoneNumbers": [{"value": "101", "type": "work"}],
    "organizations": [{"name": "Hospital", "title": "Office"}],
}
GRAPH_USER = {"emailAddress": {"name": "Anna Schmidt", "address": "anna@hospital.example"}}
GRAPH_EVENT = {
    "@odata.etag": 'W/"x"',
    "id": "AAMkAGI1",
    "subject": "Tumor board",
    "bodyPreview": "Please call evt_1 off",
    "importance": "normal",
    "isCancelled": False,
    "start": {"dateTime": "2026-11-25T15:00:00.0000000", "timeZone": "W. Europe Standard Time"},
    "end": {"dateTime": "2026-11-25T16:00:00.0000000", "timeZone": "W. Europe Standard Time"},
    "location": {"displayName": "Room A", "locationType": "default", "uniqueId": "Room A"},
    "attendees": [{"type": "required", "status": {"response": "none"}, **GRAPH_USER}],
    "organizer": GRAPH_USER,
}
GRAPH_MAIL = {
    "id": "AAMkAGI2",
    "subject": "Tumor board",
    "receivedDateTime": "2026-11-25T14:00:00Z",
    "importance": "normal",
    "from": GRAPH_USER,
    "sender": GRAPH_USER,
    "toRecipients": [GRAPH_USER],
    "body": {"contentType": "text", "content": "Hello"},
}
GRAPH_TASK = {
    "@odata.etag": 'W/"y"',
    "id": "AAMkAGI3",
    "title": "Tumor board",
    "status": "notStarted",
    "importance": "low",
    "createdDateTime": "2026-11-20T08:00:00Z",
    "dueDateTime": {"dateTime": "2026-11-25T00:00:00.0000000", "timeZone": "UTC"},
    "body": {"content": "", "contentType": "text"},
}
GRAPH_FILE = {
    "id": "01BYE5",
    "name": "Tumor board",
    "size": 1234,
    "lastModifiedDateTime": "2026-11-25T15:00:00Z",
    "webUrl": "https://clinic.sharepoint.example/x",
    "createdBy": {"user": {"id": "u1", "displayName": "Anna", "email": "a@h.example"}},
    "lastModifiedBy": {"user": {"id": "u1", "displayName": "Anna", "email": "a@h.example"}},
    "parentReference": {"driveId": "b!", "id": "01BYE4", "name": "Documents", "path": "/"},
    "file": {"mimeType": "application/pdf", "hashes": {"quickXorHash": "x"}},
}
GRAPH_CONTACT = {
    "@odata.etag": 'W/"z"',
    "id": "AAMkAGI4",
    "displayName": "Tumor board",
    "givenName": "Tumor",
    "surname": "board",
    "companyName": "Hospital",
    "mobilePhone": None,
    "emailAddresses": [{"name": "TB", "address": "tb@hospital.example"}],
}
SHAPES: list[tuple[str, dict[str, Any], EntityType, str | None]] = [
    ("Google Calendar", GOOGLE_EVENT, "calendar_event", "2026-11-25T14:00"),
    ("Gmail", GMAIL, "email", "2025-11-25T15:00"),
    ("Google Tasks", GOOGLE_TASK, "task", None),
    ("Google Drive", DRIVE_FILE, "document", "2026-11-25T15:00"),
    ("Google People", PERSON, "contact", None),
    ("Graph events", GRAPH_EVENT, "calendar_event", "2026-11-25T14:00"),
    ("Graph messages", GRAPH_MAIL, "email", "2026-11-25T14:00"),
    ("Graph to do", GRAPH_TASK, "task", "2026-11-25T00:00"),
    ("Graph drive", GRAPH_FILE, "document", "2026-11-25T15:00"),
    ("Graph contacts", GRAPH_CONTACT, "contact", None),
]


@pytest.mark.parametrize(("_source", "row", "kind", "start"), SHAPES)
@pytest.mark.parametrize("wrapper", ["items", "value", "messages"])
def test_a_whole_result_is_one_entity_with_its_name_and_date(
    _source: str, row: dict[str, Any], kind: EntityType, start: str | None, wrapper: str
) -> None:
    (found,) = extracted({wrapper: [row], "nextPageToken": "x"})
    assert (found.entity_type, found.display_name) == (kind, "Tumor board")
    moment = start_of(found.entity_type, found.data, UTC)
    told = None if moment is None else moment.at.astimezone(UTC)
    assert told == (None if start is None else datetime.fromisoformat(f"{start}:00+00:00"))


@pytest.mark.parametrize("row", [GOOGLE_EVENT, GMAIL, GRAPH_EVENT, GRAPH_MAIL])
def test_people_are_found_and_bodies_are_not_searched(row: dict[str, Any]) -> None:
    (found,) = extracted({"items": [row]})
    texts = " ".join(searchable_texts(found.data))
    assert "Anna Schmidt" in texts
    assert "evt_1" not in texts
