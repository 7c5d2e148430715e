"""One patient's chart on a FHIR server: fetched in parts as they are needed, kept, refreshed."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final, TypeAlias

from data_models.clock import Clock
from data_models.errors import RecordsRefusedError
from services.records.fhir.fhir_client import Pages
from services.records.fhir.fhir_search import (
    SEARCHED,
    PatientSearch,
    Query,
    gather,
    ref_of,
    unnamed_refs,
)
from services.records.resources.entry import instant
from services.records.resources.ports import Need
from services.records.resources.record import PatientRecord

LOADED_AGAIN: Final = timedelta(minutes=10)
"""A chart is fetched anew after so long, for what was deleted cannot be searched."""
RECORDS_KEPT: Final = 12
READS_LIMIT: Final = 500
_CLOCKS_DIFFER: Final = timedelta(minutes=1)
_NEWEST: Final = "newest"
_EVERYTHING: Final = "$everything"
Entry: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """What one search gave.

    Attributes:
        name: Unlike any other's of the chart.
        pages: None where the server does not serve the type; the refusal where we may not read it.
        version: Grows when something of it was written.
    """

    name: str
    kind: str
    pages: Pages | RecordsRefusedError | None
    asked_at: datetime
    version: int = 0


@dataclass(frozen=True, slots=True)
class Parts:
    """What a need is answered with.

    Attributes:
        is_narrowed: Of older Observations only those that were asked for are there.
    """

    parts: Sequence[Part]
    drugs: Sequence[Entry] = ()
    is_narrowed: bool = False

    @property
    def entries(self) -> list[Entry]:
        """Each resource once."""
        found = {ref_of(entry): entry for pages in self._pages for entry in pages.entries}
        return [*found.values(), *self.drugs]

    @property
    def is_truncated(self) -> bool:
        """Whether the server holds more than we are willing to read."""
        whole = (part for part in self.parts if part.name != _NEWEST)
        return any(isinstance(part.pages, Pages) and part.pages.truncated for part in whole)

    @property
    def not_offered(self) -> tuple[str, ...]:
        """Types that the server does not serve, or not to us."""
        missing = (part.kind for part in self.parts if not isinstance(part.pages, Pages))
        return tuple(dict.fromkeys(missing))

    @property
    def key(self) -> tuple[object, ...]:
        """Changes when anything of it does."""
        return (self.is_narrowed, *((part.name, part.version) for part in self.parts))

    @property
    def _pages(self) -> Iterator[Pages]:
        return (part.pages for part in self.parts if isinstance(part.pages, Pages))


@dataclass(slots=True)
class ServerChart:
    """Parts of one chart; may be asked by several tools at once, which wait for one search.

    Attributes:
        key: The resource id of the Patient.
        fresh: How long a part is not asked for again.
        tried: Source ids of documents whose texts were fetched.
    """

    search: PatientSearch
    clock: Clock
    key: str
    patient: Mapping[str, Any]
    fresh: timedelta
    looked_at: datetime
    born: datetime
    tried: set[str] = field(default_factory=set)
    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    records: OrderedDict[object, PatientRecord] = field(default_factory=OrderedDict)
    _parts: dict[str, Part] = field(default_factory=dict)
    _read: dict[str, Entry | None] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    def is_over(self) -> bool:
        """Return whether the chart must be fetched anew."""
        return self.clock.now() - self.born > LOADED_AGAIN

    def count(self) -> int:
        """Return how many resources are held."""
        pages = (part.pages for part in self._parts.values())
        return sum(len(one.entries) for one in pages if isinstance(one, Pages))

    def keep(self, key: object, record: PatientRecord) -> None:
        """Keep a record that was made of parts; the oldest goes."""
        self.records[key] = record
        while len(self.records) > RECORDS_KEPT:
            self.records.popitem(last=False)

    async def all_of(self) -> Parts | None:
        """Return what `$everything` gives, None where the server does not offer it.

        Raises:
            RecordsError: as `FhirClient.pages`.
        """
        part = await self._read_held(_EVERYTHING, "", {})
        return Parts([part]) if isinstance(part.pages, Pages) else None

    async def read(self, need: Need) -> Parts:
        """Return the parts that a need names, side by side; what is held is not asked for again.

        Raises:
            RecordsRefusedError: nothing of it may be read.
            RecordsError: as `FhirClient.pages`; a type that fails fails the whole.
        """
        kinds = [kind for kind in SEARCHED if need.kinds is None or kind in need.kinds]
        found = await gather(self._read_type(kind, need) for kind in kinds)
        parts = [part for each in found for part in each]
        refused = [part.pages for part in parts if isinstance(part.pages, RecordsRefusedError)]
        if refused and not any(isinstance(part.pages, Pages) for part in parts):
            raise refused[0]
        narrowed = any(part.name == _NEWEST for part in parts)
        answer = Parts(parts, is_narrowed=narrowed)
        return replace(answer, drugs=await self._drugs(answer.entries))

    async def _read_type(self, kind: str, need: Need) -> list[Part]:
        is_narrow = need.codes or need.category or need.since or need.until
        if kind != "Observation" or not is_narrow or kind in self._parts:
            return [await self._read_held(kind, kind, {})]
        newest = await self._read_held(_NEWEST, kind, {}, pages=1)
        if not isinstance(newest.pages, Pages) or not newest.pages.truncated:
            return [replace(newest, name=kind)]
        narrow = self.search.narrowed(kind, _query(need))
        if not narrow or not _is_newest_first(newest.pages.entries):
            return [await self._read_held(kind, kind, {})]
        found = await self._read_held(f"{kind}?{sorted(narrow.items())}", kind, narrow)
        return [newest, found] if isinstance(found.pages, Pages) else [newest]

    async def _read_held(
        self, name: str, kind: str, query: Query, *, pages: int | None = None
    ) -> Part:
        async with self._locks.setdefault(name, asyncio.Lock()):
            held = self._parts.get(name)
            now = self.clock.now()
            if held is None:
                found = await self._search(kind, query, pages)
                held = Part(name, kind, found, now)
            elif now - held.asked_at > self.fresh:
                held = await self._refresh(held, query, pages)
            self._parts[name] = held
            return held

    async def _search(
        self, kind: str, query: Query, pages: int | None
    ) -> Pages | RecordsRefusedError | None:
        if not kind:
            return await self.search.everything(self.key, query)
        return await self.search.search_type(kind, self.key, query=query, pages=pages)

    async def _refresh(self, held: Part, query: Query, pages: int | None) -> Part:
        """Ask for what was written since, where the server can tell; else for all again."""
        now = self.clock.now()
        if held.pages is None:
            return replace(held, asked_at=now)
        # A little earlier: the server's clock is not ours.
        since = (held.asked_at - _CLOCKS_DIFFER).strftime("%Y-%m-%dT%H:%M:%SZ")
        more = self.search.written_since(held.kind, since)
        if not more or not isinstance(held.pages, Pages):
            return replace(
                held, pages=await self._search(held.kind, query, pages), asked_at=now,
                version=held.version + 1,
            )  # fmt: skip
        changed = await self._search(held.kind, {**query, **more}, None)
        if isinstance(changed, RecordsRefusedError):
            return replace(held, pages=changed, asked_at=now, version=held.version + 1)
        if not isinstance(changed, Pages) or not changed.entries:
            return replace(held, asked_at=now) if isinstance(changed, Pages) else held
        entries = {ref_of(entry): entry for entry in (*held.pages.entries, *changed.entries)}
        self.tried -= {ref_of(entry) for entry in changed.entries}
        truncated = held.pages.truncated or changed.truncated
        return replace(
            held, pages=Pages(list(entries.values()), truncated), asked_at=now,
            version=held.version + 1,
        )  # fmt: skip

    async def _drugs(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return drugs that entries point to and that no search included."""
        here = {ref_of(entry) for entry in entries}
        wanted = sorted({ref for entry in entries for ref in unnamed_refs(entry)} - here)
        missing = [ref for ref in wanted if ref not in self._read][:READS_LIMIT]
        found = await gather(self.search.read(ref) for ref in missing)
        self._read.update(zip(missing, found, strict=True))
        return [entry for ref in wanted if (entry := self._read.get(ref)) is not None]


def _query(need: Need) -> Query:
    """Return what narrows a search, by search parameter."""
    bounds = (("ge", need.since), ("le", need.until))
    days = [f"{sign}{day.isoformat()}" for sign, day in bounds if day is not None]
    found = {"code": [",".join(need.codes)] if need.codes else [],
             "category": [need.category] if need.category else [], "date": days}  # fmt: skip
    return {name: values for name, values in found.items() if values}


def _is_newest_first(entries: Iterable[Entry]) -> bool:
    """Return whether a server did sort: some take `_sort` and do not."""
    resources = [entry.get("resource") or {} for entry in entries]
    days = [
        instant(str(one.get("effectiveDateTime") or one.get("issued") or "")) for one in resources
    ]
    dated = [day[:10] for day in days if day]
    return all(a >= b for a, b in pairwise(dated))
