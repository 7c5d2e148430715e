"""Puts the texts of a chart's documents into its resources, before the record is made of them.

An attachment that is read becomes plain text, a form feed between two pages; one that is not says
in `unread` why, for people.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from services.records.readers.reading import WORKERS, DocumentReader
from services.records.readers.result import BYTES_LIMIT, ReadDocument

_PLAIN: Final = "text/plain; charset=utf-8"
_HOLDERS: Final = frozenset({"DocumentReference", "DiagnosticReport"})

Entry = Mapping[str, Any]


def with_texts(entries: Sequence[Entry], reader: DocumentReader, *, only: str = "") -> list[Entry]:
    """Return the entries with all documents read that are in them. Blocking.

    An attachment that only points to a `Binary` among the entries is that Binary's.

    Args:
        only: The source id of the one document that is read; "": all are.
    """
    binaries = {name: entry["resource"] for entry in entries for name in _names(entry)}
    found = list(entries)
    holders = [at for at, entry in enumerate(entries) if _is_holder(entry, only)]
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        read = pool.map(lambda at: _read(entries[at], binaries, reader), holders)
        for at, entry in zip(holders, read, strict=True):
            found[at] = entry
    return found


def _is_holder(entry: Entry, only: str) -> bool:
    resource = entry.get("resource")
    if not isinstance(resource, dict) or resource.get("resourceType") not in _HOLDERS:
        return False
    return only in ("", f"{resource['resourceType']}/{resource.get('id')}")


def _read(entry: Entry, binaries: Mapping[str, Mapping[str, Any]], reader: DocumentReader) -> Entry:
    resource = entry["resource"]
    changed: dict[str, Any] = {}
    contents = resource.get("content")
    if isinstance(contents, list):
        changed["content"] = [_content(each, binaries, reader) for each in contents]
    forms = resource.get("presentedForm")
    if isinstance(forms, list):
        changed["presentedForm"] = [_attachment(each, binaries, reader) for each in forms]
    return {**entry, "resource": {**resource, **changed}} if changed else entry


def _content(
    content: Any, binaries: Mapping[str, Mapping[str, Any]], reader: DocumentReader
) -> Any:
    if not isinstance(content, dict) or not isinstance(content.get("attachment"), dict):
        return content
    return {**content, "attachment": _attachment(content["attachment"], binaries, reader)}


def _attachment(
    attachment: Any, binaries: Mapping[str, Mapping[str, Any]], reader: DocumentReader
) -> Any:
    if not isinstance(attachment, dict):
        return attachment
    kept = binaries.get(str(attachment.get("url") or ""), {})
    data = attachment.get("data") or kept.get("data")
    kind = attachment.get("contentType") or kept.get("contentType") or ""
    if not isinstance(data, str) or not isinstance(kind, str):
        return attachment
    found = _found(data, kind, reader)
    if not found.text:
        return {**attachment, "unread": found.problem or "it holds no text"}
    text = f"{found.text}\n\n[{found.problem}]" if found.problem else found.text
    encoded = base64.b64encode(text.encode()).decode()
    return {**attachment, "contentType": _PLAIN, "data": encoded}


def _found(data: str, media_type: str, reader: DocumentReader) -> ReadDocument:
    if len(data) > BYTES_LIMIT * 4 // 3 + 4:
        return ReadDocument(problem=f"it has more than {BYTES_LIMIT} bytes")
    try:
        content = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return ReadDocument(problem="the text is damaged: it is no base64")
    return reader.read_now(content, media_type)


def _names(entry: Entry) -> Iterator[str]:
    resource = entry.get("resource")
    if isinstance(resource, dict) and resource.get("resourceType") == "Binary":
        yield f"Binary/{resource.get('id')}"
        if isinstance(entry.get("fullUrl"), str):
            yield entry["fullUrl"]
