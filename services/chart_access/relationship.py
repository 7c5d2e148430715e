"""`ACCESS_POLICY=relationship`: a chart is open to who cares for the patient, as FHIR has it.

Which Practitioner a principal is, is told by a claim of the sign-in, a key's file or a setting. A
claim is noted durably, because a turn that another replica takes over knows the principal only.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, TypeAlias

from data_models.clock import Clock
from data_models.errors import RecordNotFoundError, RecordReplacedError, RecordsUnreadableError
from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import BlobStore, put_blob
from data_models.values import Newest
from services.access.principal import Authenticator, Handshake, Principal
from services.records import visits
from services.records.fhir.fhir_client import FhirClient, bundle_entries
from services.records.fhir.patient_lookup import PatientLookup
from services.records.folder.owners import identifier_keys, keys_of, names_of, normal, owner_keys
from services.records.folder.records import FolderRecords
from services.records.resources.entry import many, one, text

_FOLDER = "practitioners"
_KEPT = 10_000


@dataclass(kw_only=True, eq=False, repr=False)
class PractitionerBook:
    """Knows `Practitioner/17`, or `system|value` of an identifier, for each principal.

    Attributes:
        named: What the settings say; it wins.
        of_key: What the file of API keys says of `key:name`.
    """

    store: BlobStore
    named: Iterable[tuple[str, str]] = ()
    of_key: Callable[[str], str | None] = lambda _: None

    def __post_init__(self) -> None:
        self._named = dict(self.named)
        self._noted = Newest[str, str](limit=_KEPT)

    async def practitioner_of(self, principal_id: str) -> str | None:
        """Return who the principal is, None if nobody knows.

        Raises:
            StoreUnavailableError: what was noted cannot be read.
        """
        known = self._named.get(principal_id) or self.of_key(principal_id)
        known = known or self._noted.get(principal_id)
        if known:
            return known
        if (blob := await self.store.read(_name(principal_id))) is None:
            return None
        noted = self._noted[principal_id] = blob.data.decode()
        return noted

    async def note(self, principal_id: str, practitioner: str) -> None:
        """Keep what a verified sign-in said.

        Raises:
            StoreUnavailableError: it could not be kept.
        """
        if self._noted.get(principal_id) == practitioner:
            return
        name, data = _name(principal_id), practitioner.encode()
        blob = await self.store.read(name)
        # Where another sign-in of the same user was faster, the next one looks again.
        if await put_blob(self.store, name, data, replaces=blob):
            self._noted[principal_id] = practitioner


class NotingAuthenticator:
    """An `Authenticator` that notes which Practitioner a user's sign-in names."""

    def __init__(self, *, inner: Authenticator, book: PractitionerBook) -> None:
        self._inner = inner
        self._book = book

    async def authenticate(self, handshake: Handshake) -> Principal:
        principal = await self._inner.authenticate(handshake)
        if principal.practitioner:
            await self._book.note(principal.id, principal.practitioner)
        return principal


def _name(principal_id: str) -> str:
    return f"{_FOLDER}/{hashed(principal_id)}"


# Whether a FHIR resource says that a Practitioner cares for a patient now. Pure.
#
# A Group, CareTeam, Encounter or Appointment counts if it names the Practitioner, is meant (not
# cancelled, not entered in error) and is of this time: an Encounter or Appointment counts for some
# days before and after.

KINDS = ("CareTeam", "Encounter", "Appointment")
"""Besides Group, which may be of many patients."""
_NOT_MEANT = frozenset(
    {"entered-in-error", "cancelled", "noshow", "inactive", "suspended", "proposed"}
)
_DAY_CHARS = 10


def is_care_by(
    resource: Mapping[str, Any], practitioner: frozenset[str], *, today: date, days: int
) -> bool:
    """Whether `resource`, which is the patient's, names the Practitioner now.

    Args:
        practitioner: All references that mean the Practitioner, or one of their roles.
        days: For so long after it ended, or before it begins, an Encounter or Appointment counts.
    """
    if text(resource, "status") in _NOT_MEANT or not _is_of_now(resource, today, days):
        return False
    return any(name in practitioner for name in _people_in(resource, today))


def is_group_of(
    group: Mapping[str, Any], practitioner: frozenset[str], patient: frozenset[str], *, today: date
) -> bool:
    """Whether an active Group that the Practitioner manages has the patient as a member now."""
    if group.get("active") is False or not practitioner & _keys(one(group, "managingEntity")):
        return False
    return any(
        patient & _keys(one(member, "entity"))
        and member.get("inactive") is not True
        and _is_within(one(member, "period"), today)
        for member in many(group, "member")
    )


def meanings_of(practitioner: str, people: Collection[Mapping[str, Any]]) -> frozenset[str]:
    """Return all references that mean `practitioner`, their roles' too.

    Args:
        practitioner: `Practitioner/17`, its address, or `system|value` of an identifier.
        people: Practitioner and PractitionerRole resources that are known.
    """
    found = {normal(practitioner)}
    for each in people:
        names = names_of(each, None) | identifier_keys(each)
        if each.get("resourceType") == "Practitioner" and found & names:
            found |= names
    for each in people:
        if each.get("resourceType") == "PractitionerRole" and found & _keys(
            one(each, "practitioner")
        ):
            found |= names_of(each, None) | identifier_keys(each)
    return frozenset(found)


def _people_in(resource: Mapping[str, Any], today: date) -> Iterator[str]:
    for person in many(resource, "participant"):
        if text(person, "status") == "declined":
            continue
        # The periods of an Encounter's people are hours within it; a CareTeam's are years.
        is_team = resource.get("resourceType") == "CareTeam"
        if is_team and not _is_within(one(person, "period"), today):
            continue
        for name in ("member", "individual", "actor"):
            yield from _keys(one(person, name))


def _keys(reference: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(filter(None, keys_of(reference)))


def _is_of_now(resource: Mapping[str, Any], today: date, days: int) -> bool:
    kind, margin = text(resource, "resourceType"), timedelta(days=days)
    if kind == "CareTeam":
        return _is_within(one(resource, "period"), today)
    period = resource if kind == "Appointment" else one(resource, "period")
    start, end = _day(period, "start"), _day(period, "end")
    goes_on = visits.goes_on(kind, text(resource, "status"))
    last = end or (None if goes_on else start)
    if start is not None and start > today + margin:
        return False
    return goes_on if last is None else last >= today - margin


def _is_within(period: Mapping[str, Any], today: date) -> bool:
    start, end = _day(period, "start"), _day(period, "end")
    return (start is None or start <= today) and (end is None or today <= end)


def _day(period: Mapping[str, Any], name: str) -> date | None:
    if not (said := text(period, name)):
        return None
    try:
        return date.fromisoformat(f"{said}-01-01"[:_DAY_CHARS])
    except ValueError:
        # A date that nobody can read opens nothing: neither begun nor going on.
        return date.max if name == "start" else date.min


KEPT_SECONDS = 60.0
_PAGE = 100


class ByRelationship:
    """An `AccessPolicy` that asks `relations`; an answer stands for a minute.

    Who is no Practitioner, as far as is known, opens nothing.
    """

    def __init__(self, *, relations: "Relations", book: PractitionerBook, clock: Clock) -> None:
        self._relations = relations
        self._book = book
        self._clock = clock
        self._kept = Newest[tuple[str, PatientId], tuple[float, bool]](limit=_KEPT)

    async def may_open(self, principal_id: str, patient_id: PatientId) -> bool:
        if (practitioner := await self._book.practitioner_of(principal_id)) is None:
            return False
        key, now = (practitioner, patient_id), self._clock.monotonic()
        kept = self._kept.get(key)
        if kept is not None and now - kept[0] < KEPT_SECONDS:
            return kept[1]
        try:
            cares = await self._relations.cares_for(practitioner, patient_id)
        except (RecordNotFoundError, RecordReplacedError):
            cares = False
        self._kept[key] = (now, cares)
        return cares


class FileRelations:
    """Who cares for whom, over the patient's own chart and the Groups of the folder."""

    def __init__(self, *, records: FolderRecords, clock: Clock, days: int) -> None:
        self._records = records
        self._clock = clock
        self._days = days

    async def cares_for(self, practitioner: str, patient_id: PatientId) -> bool:
        """Whether a resource names `practitioner` for the patient now; raises as records do."""
        record = await self._records.load(patient_id)
        today = self._clock.now().date()
        kinds = ("Practitioner", "PractitionerRole")
        people = [entry.raw for entry in record.names.values() if entry.kind in kinds]
        meanings = meanings_of(practitioner, people)
        entries = (one.raw for one in record.entries.values() if one.kind in KINDS)
        if any(is_care_by(one, meanings, today=today, days=self._days) for one in entries):
            return True
        groups, names = await self._records.groups_and_names(patient_id)
        return any(is_group_of(one, meanings, names, today=today) for one in groups)


class ServerRelations:
    """Who cares for whom, by searches on a FHIR server; that it sends what was asked is checked."""

    def __init__(self, *, client: FhirClient, clock: Clock, system: str | None, days: int) -> None:
        self._client = client
        self._lookup = PatientLookup(client=client, system=system, clock=clock)
        self._clock = clock
        self._days = days

    async def cares_for(self, practitioner: str, patient_id: PatientId) -> bool:
        """Whether a resource names `practitioner` for the patient now; raises as records do."""
        key, _ = await self._lookup.find(patient_id)
        meanings = await self._meanings(practitioner)
        refs = [one for one in sorted(meanings) if one.startswith("Practitioner")]
        if not refs:
            return False
        mine, patient = ",".join(refs), f"Patient/{key}"
        found = await asyncio.gather(
            self._search("CareTeam", {"patient": patient, "participant": mine}),
            self._search("Encounter", {"patient": patient, "participant": mine}),
            self._search("Appointment", {"patient": patient, "actor": mine}),
        )
        today = self._clock.now().date()
        if any(
            is_care_by(one, meanings, today=today, days=self._days) and patient in owner_keys(one)
            for rows in found
            for one in rows
        ):
            return True
        groups = await self._search("Group", {"member": patient, "managing-entity": mine})
        return any(is_group_of(one, meanings, frozenset({patient}), today=today) for one in groups)

    async def _meanings(self, practitioner: str) -> frozenset[str]:
        """Return the references that mean the Practitioner and their roles on this server."""
        known = meanings_of(practitioner, ())
        people: Sequence[Mapping[str, Any]] = ()
        if "|" in practitioner:
            people = await self._search("Practitioner", {"identifier": practitioner})
            known = meanings_of(practitioner, people)
        refs = sorted(one for one in known if one.startswith("Practitioner/"))
        if not refs:
            return known
        roles = await self._search("PractitionerRole", {"practitioner": ",".join(refs)})
        return meanings_of(practitioner, [*people, *roles]) | known

    async def _search(self, kind: str, query: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        url = (self._client.base_url / kind).with_query({**query, "_count": str(_PAGE)})
        answer = await self._client.ask(url)
        if answer.status in (400, 404, 405, 501):
            return ()  # the server has no such type or search; the others decide
        if answer.status != 200:
            raise RecordsUnreadableError(f"the server answered a search with {answer.status}")
        rows = [entry.get("resource") for entry in bundle_entries(answer.body)]
        return [one for one in rows if isinstance(one, dict) and one.get("resourceType") == kind]


Relations: TypeAlias = FileRelations | ServerRelations
