"""`ACCESS_POLICY=relationship`: a chart is open to who cares for the patient, as FHIR has it."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from data_models.clock import Clock
from data_models.errors import RecordNotFoundError, RecordReplacedError, RecordsUnreadableError
from data_models.identifiers import PatientId
from services.chart_access.practitioners import PractitionerBook
from services.chart_access.relations import KINDS, is_care_by, is_group_of, meanings_of
from services.records.bundle import bundle_entries
from services.records.fhir_client import FhirClient
from services.records.folder.owners import owner_keys
from services.records.folder.records import FolderRecords
from services.records.patient_lookup import PatientLookup

KEPT_SECONDS = 60.0
_KEPT = 10_000
_PAGE = 100


class Relations(Protocol):
    """Knows who cares for whom."""

    async def cares_for(self, practitioner: str, patient_id: PatientId) -> bool:
        """Whether a resource names `practitioner` for the patient now.

        Raises:
            RecordsError: nobody can tell just now.
        """
        ...


class ByRelationship:
    """An `AccessPolicy` that asks `relations`; an answer stands for a minute.

    Who is no Practitioner, as far as is known, opens nothing.
    """

    def __init__(self, *, relations: Relations, book: PractitionerBook, clock: Clock) -> None:
        self._relations = relations
        self._book = book
        self._clock = clock
        self._kept: OrderedDict[tuple[str, PatientId], tuple[float, bool]] = OrderedDict()

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        """See `AccessPolicy.may_open`."""
        practitioner = await self._book.practitioner_of(principal_id)
        if practitioner is None:
            return False
        key, now = (practitioner, patient_id), self._clock.monotonic()
        kept = self._kept.get(key)
        if kept is not None and now - kept[0] < KEPT_SECONDS:
            return kept[1]
        cares = await self._relations.cares_for(practitioner, patient_id)
        self._kept[key] = (now, cares)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return cares


class FileRelations:
    """`Relations` over the patient's own chart and the Groups of the folder."""

    def __init__(self, *, records: FolderRecords, clock: Clock, days: int) -> None:
        self._records = records
        self._clock = clock
        self._days = days

    async def cares_for(self, practitioner: str, patient_id: PatientId) -> bool:
        """See `Relations.cares_for`."""
        try:
            record = await self._records.load(patient_id)
        except (RecordNotFoundError, RecordReplacedError):
            return False
        today = self._clock.now().date()
        people = [entry.raw for entry in record.names.values() if _is_person(entry.raw)]
        meanings = meanings_of(practitioner, people)
        entries = (one.raw for one in record.entries.values() if one.kind in KINDS)
        if any(is_care_by(one, meanings, today=today, days=self._days) for one in entries):
            return True
        groups, names = await self._records.groups_and_names(patient_id)
        return any(is_group_of(one, meanings, names, today=today) for one in groups)


class ServerRelations:
    """`Relations` by searches on a FHIR server; what it sends is checked to be what was asked."""

    def __init__(self, *, client: FhirClient, clock: Clock, system: str | None, days: int) -> None:
        self._client = client
        self._lookup = PatientLookup(client=client, system=system, clock=clock)
        self._clock = clock
        self._days = days

    async def cares_for(self, practitioner: str, patient_id: PatientId) -> bool:
        """See `Relations.cares_for`."""
        try:
            key, _ = await self._lookup.find(patient_id)
        except (RecordNotFoundError, RecordReplacedError):
            return False
        meanings = await self._meanings(practitioner)
        refs = [one for one in sorted(meanings) if one.startswith("Practitioner")]
        if not refs:
            return False
        mine, patient = ",".join(refs), f"Patient/{key}"
        found = await asyncio.gather(
            self._found("CareTeam", {"patient": patient, "participant": mine}),
            self._found("Encounter", {"patient": patient, "participant": mine}),
            self._found("Appointment", {"patient": patient, "actor": mine}),
        )
        today = self._clock.now().date()
        if any(
            is_care_by(one, meanings, today=today, days=self._days) and _is_of(one, patient)
            for rows in found
            for one in rows
        ):
            return True
        groups = await self._found("Group", {"member": patient, "managing-entity": mine})
        return any(is_group_of(one, meanings, frozenset({patient}), today=today) for one in groups)

    async def _meanings(self, practitioner: str) -> frozenset[str]:
        """Return the references that mean the Practitioner and their roles on this server."""
        known = meanings_of(practitioner, ())
        people: Sequence[Mapping[str, Any]] = ()
        if "|" in practitioner:
            people = await self._found("Practitioner", {"identifier": practitioner})
            known = meanings_of(practitioner, people)
        refs = sorted(one for one in known if one.startswith("Practitioner/"))
        if not refs:
            return known
        roles = await self._found("PractitionerRole", {"practitioner": ",".join(refs)})
        return meanings_of(practitioner, [*people, *roles]) | known

    async def _found(self, kind: str, query: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        url = (self._client.base_url / kind).with_query({**query, "_count": str(_PAGE)})
        answer = await self._client.get(url)
        if answer.status in (400, 404, 405, 501):
            return ()  # the server has no such type or search; the others decide
        if answer.status != 200:
            raise RecordsUnreadableError(f"the server answered a search with {answer.status}")
        rows = [entry.get("resource") for entry in bundle_entries(answer.body)]
        return [one for one in rows if isinstance(one, dict) and one.get("resourceType") == kind]


def _is_person(raw: Mapping[str, Any]) -> bool:
    return raw.get("resourceType") in ("Practitioner", "PractitionerRole")


def _is_of(resource: Mapping[str, Any], patient: str) -> bool:
    return patient in owner_keys(resource)
