"""Resources of a FHIR R4 server that can be written, conditionally."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlencode

from yarl import URL

from data_models import errors
from data_models.clock import Clock
from data_models.identifiers import PatientId
from data_models.resource import Resource
from services.records.fhir.fhir_client import FhirAnswer, FhirClient, FhirRequest, Pages
from services.records.fhir.fhir_search import capability_of
from services.records.fhir.patient_lookup import PatientLookup, is_fhir_id, unexpected

_PAGE_ENTRIES = 200
_CONFLICTS = frozenset({409, 412})
# 408 says nothing of whether the write was done.
_CLIENT_ERRORS = frozenset(range(400, 500)) - {408}


class FhirServerResources:
    """Reads, searches and writes resources of one FHIR server.

    An update carries `If-Match`, a new resource `If-None-Exist`. A server that gives no versions
    gets updates without a condition: it has none to check.
    """

    def __init__(
        self, *, client: FhirClient, clock: Clock, identifier_system: str | None = None
    ) -> None:
        self._client = client
        self._lookup = PatientLookup(client=client, system=identifier_system, clock=clock)

    async def patient_key(self, patient_id: PatientId) -> str:
        key, _ = await self._lookup.find(patient_id)
        return key

    async def read(self, kind: str, resource_id: str) -> Resource | None:
        """Return one resource; None if the server says that there is none."""
        if not is_fhir_id(resource_id):
            return None
        answer = await self._client.ask(self._url(kind, resource_id))
        if answer.status in (404, 410):
            return None
        return _checked(answer, kind)

    async def search(self, kind: str, query: Sequence[tuple[str, str]]) -> Sequence[Resource]:
        """Return what the server finds, all pages of it.

        Raises:
            RecordsUnreadableError: there is more than we are willing to read: a part would do
                for no answer about what is free.
        """
        url = self._url(kind).with_query([*query, ("_count", str(_PAGE_ENTRIES))])
        pages = await self._client.pages(url)
        if not isinstance(pages, Pages):
            raise unexpected(pages)
        if pages.truncated:
            raise errors.RecordsUnreadableError(f"the search for {kind} found too many")
        rows = [entry.get("resource") for entry in pages.entries]
        return [_resource(row) for row in rows if _is_kind(row, kind)]

    async def may_create(self, kind: str) -> bool:
        """Tell whether the server's CapabilityStatement says that it creates a type once.

        Raises:
            RecordsError: it does not answer.
        """
        return (await capability_of(self._client)).may_create(kind)

    async def create_once(self, body: Mapping[str, Any]) -> Resource:
        """Store a new resource, or return the one that carries its first identifier already.

        Raises:
            RecordChangedError: several carry it.
            RecordNotAcceptedError: the server does not take it; nothing was written.
        """
        first, kind = body["identifier"][0], str(body["resourceType"])
        token = f"{first['system']}|{first['value']}"
        headers = {"If-None-Exist": urlencode({"identifier": token})}
        answer = await self._client.ask(self._url(kind), _write("POST", body, headers))
        if answer.status in _CONFLICTS:
            raise errors.RecordChangedError(f"several {kind} carry the identifier")
        if answer.status in (200, 201) and _is_kind(answer.body, kind):
            return _checked(answer, kind)
        if answer.status in _CLIENT_ERRORS:
            raise errors.RecordNotAcceptedError(str(unexpected(answer)), status=answer.status)
        if answer.status not in (200, 201):
            raise unexpected(answer)
        found = await self.search(kind, [("identifier", token)])
        if len(found) != 1:
            raise errors.RecordChangedError(f"several {kind} or none carry the identifier")
        return found[0]

    async def update(self, before: Resource, body: Mapping[str, Any]) -> Resource:
        kind, key = str(body["resourceType"]), str(body["id"])
        headers = {} if before.version is None else {"If-Match": f'W/"{before.version}"'}
        answer = await self._client.ask(self._url(kind, key), _write("PUT", body, headers))
        if answer.status in _CONFLICTS or answer.status in (404, 410):
            return await self._ours(kind, key, body)
        if answer.status in (200, 201) and _is_kind(answer.body, kind):
            return _checked(answer, kind)
        if answer.status not in (200, 201, 204):
            raise unexpected(answer)
        return await self._ours(kind, key, body)

    async def _ours(self, kind: str, key: str, body: Mapping[str, Any]) -> Resource:
        """Return what stands there if it is what we wrote: the answer to a write may be lost."""
        found = await self.read(kind, key)
        if found is None or _content(found.body) != _content(body):
            raise errors.RecordChangedError(f"the {kind} was written meanwhile")
        return found

    def _url(self, kind: str, resource_id: str | None = None) -> URL:
        url = self._client.base_url / kind
        return url if resource_id is None else url / resource_id


def _write(
    method: Literal["PUT", "POST"], body: Mapping[str, Any], headers: Mapping[str, str]
) -> FhirRequest:
    data = json.dumps(body, ensure_ascii=False).encode()
    fixed = {"Content-Type": "application/fhir+json", "Prefer": "return=representation"}
    return FhirRequest(method, data, {**fixed, **headers})


def _checked(answer: FhirAnswer, kind: str) -> Resource:
    if answer.status not in (200, 201):
        raise unexpected(answer)
    if not _is_kind(answer.body, kind):
        raise errors.RecordsUnreadableError("the server answered with another resource")
    return _resource(answer.body)


def _is_kind(row: object, kind: str) -> bool:
    return isinstance(row, dict) and row.get("resourceType") == kind and "id" in row


def _resource(row: Any) -> Resource:
    version = str(row.get("meta", {}).get("versionId") or "")
    if version and not is_fhir_id(version):
        raise errors.RecordsUnreadableError("the server's resource has no usable version")
    return Resource(row, version or None)


def _content(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a client writes: servers add `meta` and the text for people."""
    return {key: value for key, value in body.items() if key not in ("meta", "text")}
