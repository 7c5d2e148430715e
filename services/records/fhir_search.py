"""Everything that a FHIR server holds of one patient, asked for type by type, several at once."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from data_models.errors import RecordsRefusedError
from services.records.fhir_capability import Capability
from services.records.fhir_client import FhirAnswer, FhirClient, Pages
from services.records.patient_lookup import is_fhir_id, unexpected

PAGE_ENTRIES: Final = 200
AT_ONCE: Final = 6
MEDICATIONS_LIMIT: Final = 500
_NOT_OFFERED: Final = frozenset({404, 405, 410, 501})
_ASKED_OTHERWISE: Final = frozenset({400, 422})
SEARCHED: Final = (
    "Condition", "Observation", "MedicationStatement", "MedicationRequest",
    "MedicationAdministration", "MedicationDispense", "Procedure", "ImagingStudy",
    "DiagnosticReport", "DocumentReference", "AllergyIntolerance", "Immunization", "Encounter",
    "CarePlan", "CareTeam", "Goal", "Coverage", "Appointment", "Device", "DeviceUseStatement",
    "FamilyMemberHistory", "Flag", "Consent", "QuestionnaireResponse", "RelatedPerson",
    "ServiceRequest", "Specimen",
)  # fmt: skip
_OWNER: Final[Mapping[str, Sequence[str]]] = {"Coverage": ("beneficiary", "patient")}
# Servers that want a category with every search (Epic's do) are asked for each of these.
_CATEGORIES: Final[Mapping[str, Sequence[str]]] = {
    "Observation": (
        "laboratory", "vital-signs", "social-history", "survey", "imaging", "exam", "procedure",
        "therapy", "activity", "core-characteristics", "smartdata",
    ),
    "Condition": ("problem-list-item", "encounter-diagnosis", "health-concern", "medical-history"),
    "DiagnosticReport": ("LAB", "RAD", "PAT", "CG", "imaging", "laboratory"),
    "DocumentReference": ("clinical-note", "imaging-result", "summary-document", "correspondence"),
    "CarePlan": ("assess-plan", "38717003", "734163000", "736271009"),
    "CareTeam": ("longitudinal", "encounter", "episode"),
}  # fmt: skip


@dataclass(slots=True)
class Received:
    """What was received, and what was not."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    truncated: bool = False
    not_offered: list[str] = field(default_factory=list)

    def add(self, pages: Pages) -> None:
        """Take the entries of a search."""
        self.entries += pages.entries
        self.truncated = self.truncated or pages.truncated


class PatientSearch:
    """Searches all types of one patient."""

    def __init__(self, *, client: FhirClient, capability: Capability) -> None:
        self._client = client
        self._capability = capability
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def everything(self, key: str) -> Received | None:
        """Return what `$everything` gives, None where the server does not offer it.

        Raises:
            RecordsError: as `FhirClient.pages`.
        """
        url = self._client.base_url / "Patient" / key / "$everything"
        pages = await self._client.pages(url.with_query(_count=PAGE_ENTRIES))
        if isinstance(pages, Pages):
            return Received(pages.entries, pages.truncated)
        if pages.status == 400 or pages.status in _NOT_OFFERED:
            return None
        raise unexpected(pages)

    async def all_types(self, key: str) -> Received:
        """Return what the searches of all types give.

        A type that the server does not serve, or that we may not read, is named in `not_offered`.

        Raises:
            RecordsError: as `FhirClient.pages`; a type that fails fails the whole.
        """
        found = await _together(self._of_type(kind, key) for kind in SEARCHED)
        received, refused = Received(), list[RecordsRefusedError]()
        for kind, pages in zip(SEARCHED, found, strict=True):
            if isinstance(pages, Pages):
                received.add(pages)
            else:
                received.not_offered.append(kind)
                refused += [pages] if isinstance(pages, RecordsRefusedError) else []
        if refused and len(received.not_offered) == len(SEARCHED):
            raise refused[0]
        received.entries += await self._medications(received.entries)
        return received

    async def has_changed(self, key: str, *, since: str) -> bool:
        """Tell whether anything of the patient was written since; True where nobody can tell.

        Raises:
            RecordsError: as `FhirClient.get`.
        """
        kinds = [kind for kind in SEARCHED if self._capability.serves(kind)]
        types = self._capability.types or {}
        if not all("_lastUpdated" in types.get(kind, ()) for kind in kinds) or not kinds:
            return True
        more = {"_lastUpdated": f"ge{since}", "_summary": "count"}
        answers = await _together(self._counted(kind, key, more) for kind in kinds)
        return any(answer != 0 for answer in answers)

    async def _counted(self, kind: str, key: str, more: Mapping[str, str]) -> object:
        async with self._turns:
            name = next(self._owner_names(kind))
            url = (self._client.base_url / kind).with_query({name: f"Patient/{key}", **more})
            answer = await self._client.get(url)
        return (answer.body or {}).get("total") if answer.status == 200 else None

    async def _of_type(self, kind: str, key: str) -> Pages | RecordsRefusedError | None:
        if not self._capability.serves(kind):
            return None
        try:
            return await self._searched(kind, key)
        except RecordsRefusedError as error:
            if error.status != 403:
                raise
            return error

    async def _searched(self, kind: str, key: str) -> Pages | None:
        """Ask narrowly, then more widely, then by category: servers differ in what they take."""
        refusal: FhirAnswer | None = None
        for query in self._queries(kind, key):
            found = await self._pages(kind, query)
            if isinstance(found, Pages):
                return found
            if found.status in _NOT_OFFERED:
                return None
            refusal = refusal or found
            if found.status not in _ASKED_OTHERWISE:
                raise unexpected(found)
        by_category = await self._by_category(kind, key)
        if by_category is None and refusal is not None:
            raise unexpected(refusal)
        return by_category

    async def _pages(self, kind: str, query: Mapping[str, str]) -> Pages | FhirAnswer:
        async with self._turns:
            return await self._client.pages((self._client.base_url / kind).with_query(query))

    def _queries(self, kind: str, key: str) -> Iterator[dict[str, str]]:
        """Yield narrower searches before wider ones."""
        for name in self._owner_names(kind):
            query = {name: f"Patient/{key}", "_count": str(PAGE_ENTRIES)}
            if kind.startswith("Medication"):
                yield {**query, "_include": f"{kind}:medication"}
            yield query
            yield {name: f"Patient/{key}"}

    def _owner_names(self, kind: str) -> Iterator[str]:
        names = _OWNER.get(kind, ("patient", "subject"))
        offered = [name for name in names if self._capability.may_search(kind, name)]
        yield from offered or names[:1]

    async def _by_category(self, kind: str, key: str) -> Pages | None:
        """Return what the searches with each category give, None where they are refused too."""
        name = next(self._owner_names(kind))
        queries = [
            {name: f"Patient/{key}", "category": each, "_count": str(PAGE_ENTRIES)}
            for each in _CATEGORIES.get(kind, ())
        ]
        found = await _together(self._pages(kind, query) for query in queries)
        good = [pages for pages in found if isinstance(pages, Pages)]
        if not good:
            return None
        entries = {_ref(entry): entry for pages in good for entry in pages.entries}
        return Pages(list(entries.values()), any(pages.truncated for pages in good))

    async def _medications(self, entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return drugs that entries point to and that no search included."""
        here = {_ref(entry) for entry in entries}
        named = {ref for entry in entries for ref in _drug_refs(entry)} - here
        wanted = [ref for ref in sorted(named) if is_fhir_id(ref.partition("/")[2])]
        found = await _together(self._read(ref) for ref in wanted[:MEDICATIONS_LIMIT])
        return [{"resource": body} for body in found if body is not None]

    async def _read(self, ref: str) -> dict[str, Any] | None:
        async with self._turns:
            kind, _, key = ref.partition("/")
            answer = await self._client.get(self._client.base_url / kind / key)
        body = answer.body if answer.status == 200 else None
        return body if body is not None and body.get("resourceType") == kind else None


def _ref(entry: Mapping[str, Any]) -> str:
    resource = entry.get("resource")
    if not isinstance(resource, dict):
        return str(id(entry))
    return f"{resource.get('resourceType')}/{resource.get('id')}"


def _drug_refs(entry: Mapping[str, Any]) -> Iterator[str]:
    resource = entry.get("resource")
    pointed = resource.get("medicationReference") if isinstance(resource, dict) else None
    reference = pointed.get("reference") if isinstance(pointed, dict) else None
    if isinstance(reference, str) and reference.startswith("Medication/"):
        yield reference.partition("/_history/")[0]


async def _together(calls: Any) -> list[Any]:
    """Run calls side by side; the first that fails ends the others."""
    tasks = [asyncio.create_task(call) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
