"""Searches for what a FHIR server holds of one patient, by type, as widely as it must be asked."""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from data_models.errors import RecordsRefusedError, RecordsUnreadableError
from services.records.fhir.fhir_client import FhirAnswer, FhirClient, Pages
from services.records.fhir.patient_lookup import is_fhir_id, unexpected
from services.records.resources.entry import KINDS, Raw, many

# What a FHIR server says it can do, read once.


@dataclass(frozen=True, slots=True)
class Capability:
    """Types of resources with their search parameters; None where the server does not say.

    Attributes:
        created_once: Types that it says it creates, on a condition.
    """

    types: Mapping[str, frozenset[str]] | None = None
    created_once: frozenset[str] = frozenset()

    def serves(self, kind: str) -> bool:
        """Tell whether resources of a type may be there."""
        return self.types is None or kind in self.types

    def may_create(self, kind: str) -> bool:
        """Tell whether the server says that it creates a type once; what is not said may not be."""
        return kind in self.created_once


async def capability_of(client: FhirClient) -> Capability:
    """Return what the server's CapabilityStatement says; nothing, where it has none to read.

    Raises:
        RecordsUnavailableError: it does not answer.
    """
    try:
        answer = await client.ask(client.base_url / "metadata")
    except (RecordsUnreadableError, RecordsRefusedError):
        return Capability()
    body = answer.body if answer.status == 200 else None
    types = dict(_types(body or {}))
    return Capability(types or None, frozenset(_created_once(body or {})))


def _types(body: Raw) -> Iterator[tuple[str, frozenset[str]]]:
    for rest in many(body, "rest"):
        shared = _names(rest)
        for row in many(rest, "resource"):
            if isinstance(row.get("type"), str):
                own = _names(row)
                yield row["type"], own | shared if own else frozenset()


def _created_once(body: Raw) -> Iterator[str]:
    for rest in many(body, "rest"):
        for row in many(rest, "resource") if rest.get("mode") == "server" else []:
            deeds = {each.get("code") for each in many(row, "interaction")}
            if "create" in deeds and row.get("conditionalCreate") is True:
                yield str(row.get("type"))


def _names(row: Raw) -> frozenset[str]:
    return frozenset(str(one.get("name")) for one in many(row, "searchParam"))


def _of_each(column: str) -> Mapping[str, Any]:
    return {kind: row[column] for kind, row in KINDS["clinical"].items() if column in row}


Query: TypeAlias = Mapping[str, str | Sequence[str]]
"""Search parameters; several values of one are several bounds."""
_T = TypeVar("_T")

PAGE_ENTRIES: Final = 200
AT_ONCE: Final = 6
_NOT_OFFERED: Final = frozenset({404, 405, 410, 501})
_ASKED_OTHERWISE: Final = frozenset({400, 422})
SEARCHED: Final = tuple(kind for kind in KINDS["clinical"] if kind != "Composition")
# A server that cannot sort is asked without.
_SORTED_BY: Final = _of_each("sorted_by")
_OWNER: Final[Mapping[str, Sequence[str]]] = {"Coverage": ("beneficiary", "patient")}
_CATEGORIES: Final = _of_each("categories")


class PatientSearch:
    """Searches of one server; several at once, `AT_ONCE` at most."""

    def __init__(self, *, client: FhirClient, capability: Capability) -> None:
        self._client = client
        self._capability = capability
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def everything(self, key: str, query: Query) -> Pages | None:
        """Return what `$everything` gives, None where the server does not offer it.

        Raises:
            RecordsError: as `FhirClient.pages`.
        """
        url = self._client.base_url / "Patient" / key / "$everything"
        pages = await self._client.pages(url.with_query({"_count": str(PAGE_ENTRIES), **query}))
        if isinstance(pages, Pages):
            return pages
        if pages.status == 400 or pages.status in _NOT_OFFERED:
            return None
        raise unexpected(pages)

    async def search_type(
        self, kind: str, key: str, *, query: Query, pages: int | None = None
    ) -> Pages | RecordsRefusedError | None:
        """Return what the search for a type gives.

        None where the server does not serve it, the refusal where we may not read it.

        Args:
            query: What narrows it.
            pages: How many pages are read at most.

        Raises:
            RecordsError: as `FhirClient.pages`.
        """
        if not self._capability.serves(kind):
            return None
        try:
            return await self._search(kind, key, query, pages)
        except RecordsRefusedError as error:
            if error.status != 403:
                raise
            return error

    def narrowed(self, kind: str, asked: Query) -> Query:
        """Return of `asked` what the server can search by; without the rest it is wider."""
        return {name: values for name, values in asked.items() if self._may(kind, name)}

    def written_since(self, kind: str, since: str) -> dict[str, str]:
        """Return what asks only for what was written since; nothing where nobody can tell."""
        if not kind:
            return {"_since": since}
        types = self._capability.types or {}
        return {"_lastUpdated": f"ge{since}"} if "_lastUpdated" in types.get(kind, ()) else {}

    async def read(self, ref: str) -> dict[str, Any] | None:
        """Return one resource as an entry, None where it is not there."""
        async with self._turns:
            kind, _, key = ref.partition("/")
            answer = await self._client.ask(self._client.base_url / kind / key)
        body = answer.body if answer.status == 200 else None
        fits = body is not None and body.get("resourceType") == kind
        return {"resource": body} if fits else None

    def _may(self, kind: str, name: str) -> bool:
        if self._capability.types is None or not self._capability.types.get(kind):
            return True
        return name in self._capability.types[kind]

    async def _search(self, kind: str, key: str, query: Query, pages: int | None) -> Pages | None:
        """Ask narrowly, then more widely, then by category: servers differ in what they take."""
        refusal: FhirAnswer | None = None
        for tried in self._queries(kind, key, query):
            found = await self._pages(kind, tried, pages)
            if isinstance(found, Pages):
                return found
            if found.status in _NOT_OFFERED:
                return None
            refusal = refusal or found
            if found.status not in _ASKED_OTHERWISE:
                raise unexpected(found)
        by_category = await self._search_by_category(kind, key, query, pages)
        if by_category is None and refusal is not None:
            raise unexpected(refusal)
        return by_category

    async def _pages(self, kind: str, query: Query, pages: int | None) -> Pages | FhirAnswer:
        async with self._turns:
            url = (self._client.base_url / kind).with_query(query)
            return await self._client.pages(url, pages=pages)

    def _queries(self, kind: str, key: str, query: Query) -> Iterator[Query]:
        """Yield narrower searches before wider ones."""
        count = {"_count": str(PAGE_ENTRIES)}
        sorts = (self._capability.types or {}).get(kind, ())
        sort = {"_sort": f"-{_SORTED_BY[kind]}"} if _SORTED_BY.get(kind) in sorts else {}
        drug = {"_include": f"{kind}:medication"} if kind.startswith("Medication") else {}
        tried: list[Query] = []
        for name in self._owner_names(kind):
            owner = {name: f"Patient/{key}"}
            for more in ({**query, **sort, **drug, **count}, {**query, **drug, **count},
                         {**query, **count}, count, {}):  # fmt: skip
                if {**owner, **more} not in tried:
                    tried.append({**owner, **more})
        yield from tried

    def _owner_names(self, kind: str) -> Iterator[str]:
        names = _OWNER.get(kind, ("patient", "subject"))
        offered = [name for name in names if self._may(kind, name)]
        yield from offered or names[:1]

    async def _search_by_category(
        self, kind: str, key: str, query: Query, pages: int | None
    ) -> Pages | None:
        """Return what the searches with each category give, None where they are refused too."""
        name = next(self._owner_names(kind))
        base = {name: f"Patient/{key}", **query, "_count": str(PAGE_ENTRIES)}
        categories = [base["category"]] if "category" in base else _CATEGORIES.get(kind, ())
        queries = [{**base, "category": each} for each in categories]
        found = await gather(self._pages(kind, each, pages) for each in queries)
        good = [one for one in found if isinstance(one, Pages)]
        if not good:
            return None
        entries = {ref_of(entry): entry for one in good for entry in one.entries}
        return Pages(list(entries.values()), any(one.truncated for one in good))


def ref_of(entry: Mapping[str, Any]) -> str:
    """Return `Type/id` of what an entry holds."""
    resource = entry.get("resource")
    if not isinstance(resource, dict):
        return str(id(entry))
    return f"{resource.get('resourceType')}/{resource.get('id')}"


def unnamed_refs(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the drugs that an entry points to, where they can be read by their id."""
    resource = entry.get("resource")
    pointed = resource.get("medicationReference") if isinstance(resource, dict) else None
    reference = pointed.get("reference") if isinstance(pointed, dict) else None
    if isinstance(reference, str) and reference.startswith("Medication/"):
        plain = reference.partition("/_history/")[0]
        if is_fhir_id(plain.partition("/")[2]):
            yield plain


async def gather(calls: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Run calls side by side; the first that fails ends the others."""
    tasks = [asyncio.create_task(call) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
