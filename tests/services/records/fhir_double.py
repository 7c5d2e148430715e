"""A FHIR server that holds resources, searches them, and refuses what a real one would refuse.

Three shapes. HAPI: pages at its base, sorts, includes, can tell what was written since. Azure:
pages by a token at the type, answers with an OperationOutcome among the entries. Epic: wants a
category where it has some, neither sorts nor includes nor knows `_lastUpdated`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from aiohttp import web

from services.records.resources.entry import instant
from tests.services.records.charts import Json
from tests.services.records.fhir_fake import outcome

Shape: TypeAlias = Literal["hapi", "azure", "epic"]
SHAPES: tuple[Shape, ...] = ("hapi", "azure", "epic")
_OWNER = {"Coverage": "beneficiary"}
_DATES = {
    "Observation": ("effectiveDateTime", "issued"), "DiagnosticReport": ("effectiveDateTime",),
    "DocumentReference": ("date",), "Encounter": ("period",), "Procedure": ("performedDateTime",),
    "Immunization": ("occurrenceDateTime",), "MedicationRequest": ("authoredOn",),
}  # fmt: skip
_CATEGORISED = frozenset({"Observation"})
_FORMS = {
    "patient": re.compile(r"Patient/[A-Za-z0-9.-]{1,64}"),
    "subject": re.compile(r"Patient/[A-Za-z0-9.-]{1,64}"),
    "beneficiary": re.compile(r"Patient/[A-Za-z0-9.-]{1,64}"),
    "date": re.compile(r"(?:ge|le)\d{4}-\d\d-\d\d"),
    "_lastUpdated": re.compile(r"ge\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
    "_count": re.compile(r"[1-9]\d{0,3}"),
    "_sort": re.compile(r"-(?:date|authoredon)"),
    "_include": re.compile(r"Medication\w+:medication"),
    "code": re.compile(r"[\w.|:/-]+(?:,[\w.|:/-]+)*"),
    "category": re.compile(r"[A-Za-z0-9-]+"),
    "identifier": re.compile(r"\S+"),
    "_page": re.compile(r"\d+"),
}


class FhirDouble:
    """Serves one patient's resources.

    Args:
        entries: As of a Bundle; the Patient is among them.
        page: How many entries a page has at most, whatever `_count` says.
    """

    def __init__(self, *, shape: Shape, entries: Sequence[Json], page: int = 200) -> None:
        self.shape = shape
        self.page = page
        self.resources: list[Json] = [entry["resource"] for entry in entries]
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.refused: list[str] = []
        self.without: frozenset[str] = frozenset()
        """Search parameters that it does not know."""
        self.forbidden: frozenset[str] = frozenset()
        """Types that whoever asks may not read."""

    def parameters(self, kind: str) -> frozenset[str]:
        """The search parameters of a type."""
        owner = "beneficiary" if kind in _OWNER else "patient"
        known = {owner, "_count", "_page"}
        known |= {"identifier"} if kind == "Patient" else set()
        if kind in _DATES:
            known |= {"authoredon" if kind == "MedicationRequest" else "date"}
        known |= {"code", "category"} if kind in ("Observation", "Condition") else set()
        if self.shape != "epic":
            known |= {"_lastUpdated", "_sort"}
            known |= {"_include"} if kind.startswith("Medication") else set()
        return frozenset(known) - self.without

    def searched(self, kind: str) -> list[dict[str, str]]:
        """The queries that were asked of a type, in order."""
        return [query for asked, query in self.asked if asked == kind]

    def kinds_searched(self) -> set[str]:
        """The types that were asked for, but for who the patient is."""
        return {kind for kind, _ in self.asked} - {"metadata", "Patient"}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer, or refuse as a real server does."""
        path = request.path.removeprefix("/fhir").strip("/")
        query = dict(request.query)
        if request.method != "GET" or request.headers.get("Accept") != "application/fhir+json":
            return self._refuse(405, "not-supported", f"{request.method} {path}")
        if path == "metadata":
            self.asked.append((path, query))
            return web.json_response(self._statement())
        if not path and "_getpages" in query:
            path, _, query["_page"] = query.pop("_getpages").rpartition("-")
        kind, _, key = path.partition("/")
        self.asked.append((kind, query))
        if kind in self.forbidden:
            return self._refuse(403, "forbidden", kind)
        if key:
            return self._read(kind, key)
        return self._search(request, kind, query)

    def _statement(self) -> Json:
        kinds = {one["resourceType"] for one in self.resources}
        rows = [
            {"type": kind, "searchParam": [{"name": n} for n in sorted(self.parameters(kind))]}
            for kind in sorted(kinds)
        ]
        return {"resourceType": "CapabilityStatement", "rest": [{"resource": rows}]}

    def _read(self, kind: str, key: str) -> web.StreamResponse:
        for one in self.resources:
            if one["resourceType"] == kind and one.get("id") == key:
                return web.json_response(one)
        return web.json_response(outcome("not-found"), status=404)

    def _search(self, request: web.Request, kind: str, query: dict[str, str]) -> web.StreamResponse:
        rows = [one for one in self.resources if one["resourceType"] == kind]
        if not rows:
            return self._refuse(404, "not-supported", kind)
        for name, values in ((name, request.query.getall(name, [])) for name in query):
            if name not in self.parameters(kind) and name != "_page":
                return self._refuse(400, "not-supported", f"{kind}?{name}")
            if any(not _FORMS[name].fullmatch(value) for value in values):
                return self._refuse(400, "invalid", f"{kind}?{name}")
        is_whole = "category" not in query and "identifier" not in query
        if self.shape == "epic" and kind in _CATEGORISED and is_whole:
            return self._refuse(400, "business-rule", f"{kind} without category")
        kept = [one for one in rows if self._fits(one, request, query)]
        if "_sort" in query:
            kept.sort(key=lambda one: instant(_day(one)), reverse=True)
        return self._page(request, kind, query, kept)

    def _fits(self, one: Json, request: web.Request, query: Mapping[str, str]) -> bool:
        tests: dict[str, Callable[[str], bool]] = {
            "patient": lambda v: _owner(one) == v, "beneficiary": lambda v: _owner(one) == v,
            "category": lambda v: v in _codes(one.get("category")),
            "code": lambda v: bool({*v.split(",")} & _codes(one.get("code"))),
            "identifier": lambda v: v.rpartition("|")[2] in str(one.get("identifier")),
            "_lastUpdated": lambda v: one.get("meta", {}).get("lastUpdated", "") >= v[2:],
            "date": lambda v: _day(one)[:10] >= v[2:] if v[:2] == "ge" else _day(one)[:10] <= v[2:],
        }  # fmt: skip
        asked = [(name, v) for name in query for v in request.query.getall(name, [query[name]])]
        return all(tests[name](value) for name, value in asked if name in tests)

    def _page(
        self, request: web.Request, kind: str, query: dict[str, str], kept: list[Json]
    ) -> web.StreamResponse:
        size = min(self.page, int(query.get("_count", self.page)))
        at = int(query.get("_page", 0))
        shown = [{"fullUrl": f"{kind}/{one.get('id')}", "resource": one}
                 for one in kept[at : at + size]]  # fmt: skip
        if "_include" in query:
            shown += [
                {"resource": drug, "search": {"mode": "include"}} for drug in self._drugs(kept)
            ]
        if self.shape != "hapi":
            note = outcome("informational")
            shown.append({"resource": note, "search": {"mode": "outcome"}})
        more = at + size < len(kept)
        links = [{"relation": "next", "url": self._next(request, kind, at + size)}] if more else []
        return web.json_response(
            {"resourceType": "Bundle", "type": "searchset", "link": links, "entry": shown}
        )

    def _next(self, request: web.Request, kind: str, at: int) -> str:
        base = f"http://{request.host}/fhir"
        if self.shape == "hapi" and kind != "Observation":
            return f"{base}?_getpages={kind}-{at}"
        return str(request.url.with_path(f"/fhir/{kind}", keep_query=True).update_query(_page=at))

    def _drugs(self, kept: Sequence[Json]) -> Iterator[Json]:
        wanted = {one.get("medicationReference", {}).get("reference") for one in kept}
        for one in self.resources:
            if f"{one['resourceType']}/{one.get('id')}" in wanted:
                yield one

    def _refuse(self, status: int, code: str, what: str) -> web.StreamResponse:
        self.refused.append(what)
        return web.json_response(outcome(code), status=status)


def _owner(one: Json) -> str:
    pointer: Any = one.get("subject") or one.get("patient") or one.get("beneficiary") or {}
    return str(pointer.get("reference"))


def _codes(concepts: Any) -> set[str]:
    rows = concepts if isinstance(concepts, list) else [concepts or {}]
    return {str(coding.get("code")) for row in rows for coding in row.get("coding", [])}


def _day(one: Json) -> str:
    for name in _DATES.get(one["resourceType"], ()):
        found = one.get(name)
        if found:
            return str(found.get("start", "")) if isinstance(found, dict) else str(found)
    return ""
