"""Texts that a FHIR server keeps outside their documents, as Binary resources."""

import asyncio
from collections.abc import Iterator
from typing import Any

from yarl import URL

from services.records.fhir_client import FhirClient

_AT_ONCE = 4


async def fetch_attachments(
    client: FhirClient, entries: list[dict[str, Any]], *, limit: int
) -> None:
    """Put the text of up to `limit` attachments into `entries`, where the server keeps it.

    What is absent, elsewhere or over the limit stays as it is: its document then says that the
    text was not fetched.

    Raises:
        RecordsError: the server failed or refused.
    """
    turns = asyncio.Semaphore(_AT_ONCE)
    wanted = [found for entry in entries for found in _kept_elsewhere(client, entry)]

    async def fetch(attachment: dict[str, Any], url: URL) -> None:
        async with turns:
            answer = await client.get(url)
        body = (answer.body or {}) if answer.status == 200 else {}
        if isinstance(body.get("data"), str):
            attachment["data"] = body["data"]
            attachment.setdefault("contentType", body.get("contentType"))

    tasks = [asyncio.create_task(fetch(attachment, url)) for attachment, url in wanted[:limit]]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _kept_elsewhere(
    client: FhirClient, entry: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], URL]]:
    for attachment in _attachments(entry.get("resource")):
        address = attachment.get("url")
        if isinstance(address, str) and "data" not in attachment and _may_be_read(attachment):
            url = _under(client.base_url, address)
            if url is not None and client.serves(url):
                yield attachment, url


def _attachments(resource: object) -> Iterator[dict[str, Any]]:
    if not isinstance(resource, dict):
        return
    contents = _objects(resource.get("content"))
    rows = [content.get("attachment") for content in contents]
    for row in (*rows, *_objects(resource.get("presentedForm"))):
        if isinstance(row, dict):
            yield row


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _may_be_read(attachment: dict[str, Any]) -> bool:
    """Tell whether a text may be in it: pictures, sounds and films are not fetched."""
    kind = str(attachment.get("contentType", "text/plain")).lower()
    return not kind.startswith(("image/", "audio/", "video/"))


def _under(base: URL, address: str) -> URL | None:
    try:
        return URL(f"{base}/").join(URL(address))
    except ValueError:
        return None
