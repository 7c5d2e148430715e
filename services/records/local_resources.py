"""Resources that can be written, over sample bundles and one container of blobs.

A resource is a blob, created if absent and replaced on the version that was read: that is the
check for rivals, and it holds for any number of replicas. What nobody wrote comes from the samples.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any

from data_models import errors
from data_models.clock import Clock
from data_models.identifiers import PatientId, hashed
from data_models.resource import Resource
from data_models.storage.blob_store import Blob, BlobStore
from data_models.values import read_object
from services.records.fhir.fhir_client import bundle_entries_of
from services.records.fhir.fhir_server_records import FhirServerRecords
from services.records.folder.records import FolderRecords

# The Slots that a doctor's hours make, for sample data that no calendar keeps up to date. Pure.

SLOT_MINUTES_URL = "https://rounds.example/fhir/slot-minutes"
_SLOT_FORM = "%Y%m%dT%H%M"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DEFAULT_MINUTES = 30


def slots_on(
    schedule: Mapping[str, Any], roles: Sequence[Mapping[str, Any]], day: date, *, zone: tzinfo
) -> Iterator[dict[str, Any]]:
    """Yield the free Slots of one day of a Schedule, from the hours of its doctor.

    Args:
        roles: PractitionerRoles; those of other doctors count for nothing.
        zone: In which the hours are meant.
    """
    actors = {str(each["reference"]) for each in schedule["actor"]}
    length = timedelta(minutes=_slot_minutes(schedule))
    for role in roles:
        if role["practitioner"]["reference"] not in actors:
            continue
        for row in role.get("availableTime", ()):
            if _DAYS[day.weekday()] in row["daysOfWeek"]:
                yield from _slots(schedule["id"], row, day, length, zone)


def schedule_and_day(slot_id: str, *, zone: tzinfo) -> tuple[str, date] | None:
    """Return the Schedule and the day of a Slot that was made here; None if it was not."""
    schedule, _, start = slot_id.removeprefix("slot-").rpartition("-")
    try:
        moment = datetime.strptime(start, _SLOT_FORM).replace(tzinfo=UTC)
    except ValueError:
        return None
    return f"schedule-{schedule}", moment.astimezone(zone).date()


def _slots(
    schedule_id: str, row: Mapping[str, Any], day: date, length: timedelta, zone: tzinfo
) -> Iterator[dict[str, Any]]:
    start = _moment(day, row["availableStartTime"], zone)
    closes = _moment(day, row["availableEndTime"], zone)
    while start + length <= closes:
        yield {
            "resourceType": "Slot",
            "id": f"slot-{schedule_id.removeprefix('schedule-')}-{start.strftime(_SLOT_FORM)}",
            "schedule": {"reference": f"Schedule/{schedule_id}"},
            "status": "free",
            "start": _text(start),
            "end": _text(start + length),
        }
        start += length


def _slot_minutes(schedule: Mapping[str, Any]) -> int:
    for each in schedule.get("extension", ()):
        if each.get("url") == SLOT_MINUTES_URL:
            return int(each["valuePositiveInt"])
    return _DEFAULT_MINUTES


def _moment(day: date, hour: str, zone: tzinfo) -> datetime:
    return datetime.combine(day, time.fromisoformat(hour), zone).astimezone(UTC)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


_FOLDER = "clinic/"
_DAYS_SHOWN = 31
_LISTED_SECONDS = 10.0
_Found = dict[str, Resource]


class LocalResources:
    """Reads `{folder}/*.json` and the blobs below `clinic/`; writes blobs only.

    Args:
        patients: What every other part reads of patients; they can be looked up as persons.
    """

    def __init__(
        self,
        *,
        patients: FhirServerRecords | FolderRecords,
        folder: Path,
        store: BlobStore,
        zone: tzinfo,
        clock: Clock,
    ) -> None:
        self._patients = patients
        self._clock = clock
        self._writes, self._listed_writes = 0, -1
        self._listed_until = 0.0
        self._folder = folder
        self._store = store
        self._zone = zone
        self._samples: dict[str, list[dict[str, Any]]] | None = None
        self._registered: dict[str, Resource] = {}

    async def patient_key(self, patient_id: PatientId) -> str:
        return str((await self._patients.load(patient_id)).patient.id)

    async def read(self, kind: str, resource_id: str) -> Resource | None:
        made = await self._make_slots(resource_id) if kind == "Slot" else []
        sampled = [*await self._read_samples(kind), *made]
        body = next((each for each in sampled if each["id"] == resource_id), None)
        blobs = await self._written(kind, [resource_id])
        return blobs.get(resource_id) or (None if body is None else Resource(body, None))

    async def search(self, kind: str, query: Sequence[tuple[str, str]]) -> Sequence[Resource]:
        """Return what may fit `query`; only what costs to read is left out by it."""
        asked = dict(query)
        if kind == "Slot":
            return await self._slots(asked.get("schedule", ""), _days(query))
        found: _Found = {
            each["id"]: Resource(each, None) for each in await self._read_samples(kind)
        }
        found |= await self._written(kind, None)
        reference = next((asked[one] for one in ("patient", "beneficiary") if one in asked), None)
        return [one for one in found.values() if reference is None or _names(one.body, reference)]

    async def list_registered(self) -> Sequence[Mapping[str, Any]]:
        """Return the Patients that were registered here and have no bundle.

        Every turn asks: they are listed anew once this process wrote one, and after ten seconds
        for what others wrote; what is the same version is not read again.
        """
        if self._writes != self._listed_writes or self._clock.monotonic() >= self._listed_until:
            writes = self._writes
            await self._list_registered()
            self._listed_writes = writes
            self._listed_until = self._clock.monotonic() + _LISTED_SECONDS
        return [self._registered[one].body for one in sorted(self._registered)]

    async def _list_registered(self) -> None:
        folder = f"{_FOLDER}Patient/"
        versions = {
            row.name.removeprefix(folder): row.etag async for row in self._store.list(folder)
        }
        known = {
            one: found
            for one, found in self._registered.items()
            if versions.get(one) == found.version
        }
        self._registered = known | await self._read("Patient", [*versions.keys() - known.keys()])

    async def may_create(self, kind: str) -> bool:
        """Tell that every type may be kept here."""
        return bool(kind)

    async def create_once(self, body: Mapping[str, Any]) -> Resource:
        first = body["identifier"][0]
        key = hashed(first["system"], first["value"])[:16]
        resource_id = f"{str(body['resourceType']).lower()}-{key}"
        new = {**body, "id": resource_id}
        try:
            return await self._create(new)
        except errors.BlobExistsError:
            kept = await self.read(str(body["resourceType"]), resource_id)
            if kept is None:
                raise errors.RecordChangedError("the resource was there and is gone") from None
            return kept

    async def update(self, before: Resource, body: Mapping[str, Any]) -> Resource:
        try:
            if before.version is None:
                return await self._create(body)
            etag = await self._store.replace(_name(body), _data(body), etag=before.version)
            self._writes += 1
        except (errors.BlobExistsError, errors.BlobChangedError) as error:
            raise errors.RecordChangedError(
                f"the {body['resourceType']} was written meanwhile"
            ) from error
        return Resource(body, etag)

    async def _create(self, body: Mapping[str, Any]) -> Resource:
        created = Resource(body, await self._store.create(_name(body), _data(body)))
        self._writes += 1
        return created

    async def _slots(self, schedule: str, days: Iterable[date]) -> list[Resource]:
        """Return the slots of some days, as their hours make them or as they were written."""
        rows = [
            each for each in await self._read_samples("Schedule") if schedule.endswith(each["id"])
        ]
        roles = await self._read_samples("PractitionerRole")
        made = [
            slot
            for row in rows
            for day in days
            for slot in slots_on(row, roles, day, zone=self._zone)
        ]
        written = await self._written("Slot", [slot["id"] for slot in made])
        return [written.get(slot["id"]) or Resource(slot, None) for slot in made]

    async def _make_slots(self, slot_id: str) -> list[dict[str, Any]]:
        if (place := schedule_and_day(slot_id, zone=self._zone)) is None:
            return []
        schedule, day = place
        rows = [each for each in await self._read_samples("Schedule") if each["id"] == schedule]
        roles = await self._read_samples("PractitionerRole")
        return [slot for row in rows for slot in slots_on(row, roles, day, zone=self._zone)]

    async def _written(self, kind: str, wanted: Sequence[str] | None) -> _Found:
        """Return what was written of a kind; of the `wanted` ids only, if any are named."""
        folder = f"{_FOLDER}{kind}/"
        listed = [row.name.removeprefix(folder) async for row in self._store.list(folder)]
        ids = listed if wanted is None else [one for one in wanted if one in set(listed)]
        return await self._read(kind, ids)

    async def _read(self, kind: str, ids: Sequence[str]) -> _Found:
        folder = f"{_FOLDER}{kind}/"
        blobs = await asyncio.gather(*(self._store.read(folder + one) for one in ids))
        return {one: _resource(blob) for one, blob in zip(ids, blobs, strict=True) if blob}

    async def _read_samples(self, kind: str) -> list[dict[str, Any]]:
        if self._samples is None:
            self._samples = await asyncio.to_thread(_samples_in, self._folder)
        rows = self._samples.get(kind, [])
        if kind != "Patient":
            return rows
        known = await self._patients.all_patients()
        return [*rows, *(dict(one.body) for one in known.patients if "id" in one.body)]


def _samples_in(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the resources of every bundle in `folder` by kind; none where there is no folder."""
    found: dict[str, list[dict[str, Any]]] = {}
    try:
        texts = [file.read_bytes() for file in sorted(folder.glob("*.json"))]
    except OSError as error:
        raise errors.RecordsUnavailableError("the clinic's bundles could not be read") from error
    for text in texts:
        for entry in bundle_entries_of(text):
            found.setdefault(entry["resource"]["resourceType"], []).append(entry["resource"])
    return found


def _resource(blob: Blob) -> Resource:
    if (body := read_object(blob.data)) is None:
        raise errors.RecordsUnreadableError("a written resource is no JSON object")
    return Resource(body, blob.etag)


def _data(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def _name(body: Mapping[str, Any]) -> str:
    return f"{_FOLDER}{body['resourceType']}/{body['id']}"


def _names(body: Mapping[str, Any], reference: str) -> bool:
    """Tell whether an Appointment, a Coverage or an order refers to `reference`."""
    actors = [each.get("actor", {}) for each in body.get("participant", ())]
    places = [*actors, body.get("beneficiary", {}), body.get("subject", {})]
    return any(each.get("reference") == reference for each in places)


def _days(query: Sequence[tuple[str, str]]) -> list[date]:
    """Return the days that `start=ge…&start=lt…` touch, one more on each side for the zones."""
    bounds = {text[:2]: text[2:] for name, text in query if name == "start"}
    if not {"ge", "lt"} <= set(bounds):
        return []
    first = datetime.fromisoformat(bounds["ge"]).date() - timedelta(days=1)
    last = datetime.fromisoformat(bounds["lt"]).date() + timedelta(days=1)
    count = min((last - first).days + 1, _DAYS_SHOWN)
    return [first + timedelta(days=number) for number in range(count)]
