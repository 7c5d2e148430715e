"""One clinic over two back ends: a time is booked once, for whoever comes first."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import fhirkit
import pytest

from data_models.errors import RecordNotFoundError, ToolInputError
from data_models.identifiers import PatientId
from data_models.resource import Resource, ResourceStore
from scripts.test_tools import NODE_HOME
from services.scheduling.clinic import Clinic
from services.scheduling.fhir import held, may_be_born
from tests import peers
from tests.given import present
from tests.services.scheduling import clinics

FOUR, SEVEN = PatientId("patient_4"), PatientId("patient_7")
TEN, HALF_PAST = "slot-dr-smith-20300102T1000", "slot-dr-smith-20300102T1030"


class Sleepy:
    """Records over which another patient gets the slot while the appointment is filed."""

    def __init__(self, records: ResourceStore) -> None:
        self._records = records

    async def patient_key(self, patient_id: PatientId) -> str:
        return await self._records.patient_key(patient_id)

    async def read(self, kind: str, resource_id: str) -> Resource | None:
        return await self._records.read(kind, resource_id)

    async def search(self, kind: str, query: Sequence[tuple[str, str]]) -> Sequence[Resource]:
        return await self._records.search(kind, query)

    async def update(self, before: Resource, body: Mapping[str, Any]) -> Resource:
        return await self._records.update(before, body)

    async def may_create(self, kind: str) -> bool:
        return await self._records.may_create(kind)

    async def create_once(self, body: Mapping[str, Any]) -> Resource:
        late = clinics.clinic_over(self._records, now=clinics.NOW + timedelta(minutes=2))
        await late.book(SEVEN, TEN, "")
        return await self._records.create_once(body)


FHIR_SERVER = Path(__file__).parents[2] / "tools" / "fhir_server.mjs"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An independent FHIR server in memory."""
    peers.node_module("@medplum/fhir-router", "fhir-router")
    arguments: list[str | Path] = ["--experimental-websocket", FHIR_SERVER, NODE_HOME]
    folder = tmp_path_factory.mktemp("fhir")
    with peers.running_node(arguments, folder=folder, ready=r"listening on (\S+)\n") as url:
        yield url


@pytest.fixture(params=["local", pytest.param("server", marks=pytest.mark.slow)])
async def records(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ResourceStore]:
    if request.param == "local":
        yield clinics.local_records(tmp_path)
        return
    url: str = request.getfixturevalue("server")
    await clinics.fill(url, clinics.days_from_today(1))
    async with clinics.server_records(url) as opened:
        yield opened


@pytest.fixture
def clinic(records: ResourceStore) -> Clinic:
    return clinics.clinic_over(records)


async def test_doctors_are_listed_with_their_specialties(clinic: Clinic) -> None:
    everyone = {one.name: one.specialty for one in await clinic.doctors()}
    assert everyone["Dr. Anna Smith"] == "Internal medicine"
    assert len(everyone) == 3


async def test_free_times_lie_ahead_and_within_hours(clinic: Clinic) -> None:
    free = await clinic.free_slots("dr-smith", clinics.TODAY)
    assert [slot.start.strftime("%H:%M") for slot in free][:2] == ["09:30", "10:00"]
    assert free[-1].end.strftime("%H:%M") == "17:00"
    with pytest.raises(ToolInputError):
        await clinic.free_slots("dr-who", clinics.TODAY)


async def test_of_many_who_want_a_time_one_gets_it(clinic: Clinic, records: ResourceStore) -> None:
    tries = [clinic.book(PatientId(name), TEN, "") for name in clinics.PATIENTS]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in results) == 1
    assert all(isinstance(one, ToolInputError) for one in results if isinstance(one, Exception))
    assert TEN not in {one.slot_id for one in await clinic.free_slots("dr-smith", clinics.TODAY)}
    everyone = [await clinic.list_booked(PatientId(name)) for name in clinics.PATIENTS]
    assert sum(map(len, everyone)) == 1


async def test_a_patient_who_asks_everywhere_at_once_is_at_one_place(clinic: Clinic) -> None:
    wanted = [TEN, "slot-dr-jones-20300102T1000", "slot-dr-okafor-20300102T1000"]
    results = await asyncio.gather(
        *(clinic.book(FOUR, slot, "") for slot in wanted), return_exceptions=True
    )
    assert sum(not isinstance(one, BaseException) for one in results) == 1
    assert len(await clinic.list_booked(FOUR)) == 1
    free = [
        {slot.slot_id for slot in await clinic.free_slots(doctor, clinics.TODAY)}
        for doctor in ("dr-smith", "dr-jones", "dr-okafor")
    ]
    assert sum(slot in found for slot, found in zip(wanted, free, strict=True)) == 2


async def test_booking_the_same_twice_books_once(clinic: Clinic) -> None:
    first = await clinic.book(FOUR, TEN, "knee")
    assert await clinic.book(FOUR, TEN, "knee") == first
    assert [one.reason for one in await clinic.list_booked(FOUR)] == ["knee"]


async def test_nobody_is_at_two_doctors_at_once(clinic: Clinic) -> None:
    await clinic.book(FOUR, TEN, "")
    for slot in ("slot-dr-jones-20300102T1000", "slot-dr-okafor-20300102T1020"):
        with pytest.raises(ToolInputError, match="another appointment"):
            await clinic.bookable(FOUR, slot)
        with pytest.raises(ToolInputError, match="another appointment"):
            await clinic.book(FOUR, slot, "")


@pytest.mark.parametrize(
    "slot_id", ["", "slot-", "slot-dr-smith-20300102T0300", "slot-dr-who-20300102T1000", "../x"]
)
async def test_a_time_that_is_none_is_refused(clinic: Clinic, slot_id: str) -> None:
    with pytest.raises(ToolInputError, match="no such slot"):
        await clinic.book(FOUR, slot_id, "")


async def test_a_time_that_has_passed_is_refused(clinic: Clinic) -> None:
    with pytest.raises(ToolInputError, match="passed"):
        await clinic.book(FOUR, "slot-dr-smith-20300102T0900", "")


async def test_a_patient_cancels_only_their_own(clinic: Clinic) -> None:
    booked = await clinic.book(FOUR, TEN, "")
    with pytest.raises(ToolInputError):
        await clinic.cancel(SEVEN, booked.appointment_id)
    assert (await clinic.cancel(FOUR, booked.appointment_id)).status == "cancelled"
    assert await clinic.list_booked(FOUR) == []
    await clinic.book(SEVEN, TEN, "")


async def test_who_cancels_may_book_the_same_time_again(clinic: Clinic) -> None:
    booked = await clinic.book(FOUR, TEN, "knee")
    await clinic.cancel(FOUR, booked.appointment_id)
    again = await clinic.book(FOUR, TEN, "hip")
    assert (again.status, again.reason) == ("booked", "hip")
    assert await clinic.list_booked(FOUR) == [again]


async def test_moving_keeps_the_appointment_and_frees_its_old_time(clinic: Clinic) -> None:
    booked = await clinic.book(FOUR, TEN, "knee")
    moved = await clinic.move(FOUR, booked.appointment_id, HALF_PAST)
    assert (moved.appointment_id, moved.slot_id) == (booked.appointment_id, HALF_PAST)
    assert await clinic.list_booked(FOUR) == [moved]
    free = {one.slot_id for one in await clinic.free_slots("dr-smith", clinics.TODAY)}
    assert TEN in free
    assert HALF_PAST not in free


async def test_the_same_hour_may_be_moved_to_another_doctor(clinic: Clinic) -> None:
    booked, jones = await clinic.book(FOUR, TEN, "knee"), "slot-dr-jones-20300102T1000"
    with pytest.raises(ToolInputError, match="another appointment"):
        await clinic.bookable(FOUR, jones)
    slot = await clinic.bookable(FOUR, jones, instead_of=booked.appointment_id)
    moved = await clinic.move(FOUR, booked.appointment_id, slot.slot_id)
    assert await clinic.list_booked(FOUR) == [moved]
    assert await clinic.doctor_name(moved.doctor_id) == "Dr. Peter Jones"
    assert await clinic.doctor_name("dr-who") == "dr-who"


async def test_who_loses_the_new_time_keeps_the_old_one(clinic: Clinic) -> None:
    await clinic.book(SEVEN, HALF_PAST, "")
    booked = await clinic.book(FOUR, TEN, "")
    with pytest.raises(ToolInputError, match="taken"):
        await clinic.move(FOUR, booked.appointment_id, HALF_PAST)
    assert await clinic.list_booked(FOUR) == [booked]


async def test_a_change_left_unfinished_blocks_a_time_a_minute(records: ResourceStore) -> None:
    await leave_held(records, TEN)
    with pytest.raises(ToolInputError, match="taken"):
        await clinics.clinic_over(records, now=clinics.NOW + timedelta(seconds=59)).book(
            FOUR, TEN, ""
        )
    later = clinics.clinic_over(records, now=clinics.NOW + timedelta(seconds=60))
    assert TEN in {one.slot_id for one in await later.free_slots("dr-smith", clinics.TODAY)}
    assert (await later.book(FOUR, TEN, "")).slot_id == TEN


async def test_a_booking_that_died_before_its_last_write_is_a_booking(
    clinic: Clinic, records: ResourceStore
) -> None:
    booked = await clinic.book(FOUR, TEN, "")
    await leave_held(records, TEN)
    later = clinics.clinic_over(records, now=clinics.NOW + timedelta(minutes=5))
    assert TEN not in {one.slot_id for one in await later.free_slots("dr-smith", clinics.TODAY)}
    with pytest.raises(ToolInputError, match="taken"):
        await later.book(SEVEN, TEN, "")
    assert await later.book(FOUR, TEN, "") == booked
    assert present(await records.read("Slot", TEN)).body["status"] == "busy"


async def test_a_process_that_slept_through_its_hold_books_nothing(records: ResourceStore) -> None:
    with pytest.raises(ToolInputError, match="taken"):
        await clinics.clinic_over(Sleepy(records)).book(FOUR, TEN, "")
    clinic = clinics.clinic_over(records)
    assert await clinic.list_booked(FOUR) == []
    assert [one.slot_id for one in await clinic.list_booked(SEVEN)] == [TEN]


async def leave_held(records: ResourceStore, slot_id: str) -> None:
    """Mark a slot as a process does that dies in the middle."""
    slot = present(await records.read("Slot", slot_id))
    await records.update(slot, held(slot.body, "hold_dead", now=clinics.NOW))


async def test_what_another_system_holds_is_never_taken_over(records: ResourceStore) -> None:
    slot = present(await records.read("Slot", TEN))
    await records.update(slot, {**slot.body, "status": "busy-tentative"})
    with pytest.raises(ToolInputError, match="taken"):
        await clinics.clinic_over(records, now=clinics.NOW + timedelta(minutes=30)).book(
            FOUR, TEN, ""
        )


async def test_a_patient_of_the_records_is_registered(clinic: Clinic) -> None:
    born = date(1957, 3, 14)
    for name in ("Margaret Whitfield", "whitfield, margaret anne", "MÁRGARET WHITFIELD"):
        assert await clinic.find_known(name, born, patient_id=FOUR) == "this_patient"
        assert await clinic.find_known(name, born, patient_id=SEVEN) == "another_person"
    assert (
        await clinic.find_known("Margaret Whitfield", date(1957, 3, 15), patient_id=FOUR)
        == "nobody"
    )


async def test_a_person_is_registered_once_and_known(clinic: Clinic) -> None:
    born = date(1980, 2, 29)
    assert await clinic.find_known("Ada Leeward", born, patient_id=FOUR) == "nobody"
    first, again = [await clinic.register(name, born) for name in ("Ada Leeward", "ada  leeward")]
    assert first.person_id == again.person_id
    assert (await clinic.register("Ada Leeward", date(1980, 3, 1))).person_id != first.person_id
    for name in ("Ada Leeward", "leeward, ADA"):
        assert await clinic.find_known(name, born, patient_id=FOUR) == "another_person"
    assert await clinic.find_known("Ada Leeward", date(1981, 2, 28), patient_id=FOUR) == "nobody"
    assert await clinic.find_known("Ada Windward", born, patient_id=None) == "nobody"
    await clinic.register("Ada Maria Leeward", born)
    assert await clinic.find_known("Ada Leeward", born, patient_id=FOUR) == "several"


def test_a_birth_date_that_is_known_in_part_may_fit() -> None:
    day = date(1980, 2, 29)
    for known, fits in {"1980": True, "1980-02": True, "1980-02-28": False, "": False}.items():
        assert may_be_born({"birthDate": known}, day) is fits
    assert not may_be_born({}, day)


async def test_coverage_ends_with_its_period(clinic: Clinic) -> None:
    assert present(await clinic.coverage(FOUR, today=clinics.TODAY)).is_active
    assert not present(await clinic.coverage(FOUR, today=date(2036, 1, 1))).is_active
    assert not present(await clinic.coverage(SEVEN, today=clinics.TODAY)).is_active
    assert await clinic.coverage(PatientId("patient_42"), today=clinics.TODAY) is None
    with pytest.raises(RecordNotFoundError):
        await clinic.coverage(PatientId("patient_999"), today=clinics.TODAY)


async def test_what_is_written_is_valid_r4(clinic: Clinic, records: ResourceStore) -> None:
    booked = await clinic.book(FOUR, TEN, "knee")
    await clinic.register("Ada Leeward", date(1980, 2, 29))
    appointment = await records.read("Appointment", booked.appointment_id)
    slot = await records.read("Slot", TEN)
    people = await records.search("Patient", [("name", "leeward")])
    assert appointment is not None
    assert slot is not None
    for one in (appointment, slot, people[-1]):
        assert [str(issue) for issue in fhirkit.parse(json.dumps(one.body)).issues] == []
    assert slot.body["status"] == "busy"


def test_the_sample_clinic_is_valid_r4() -> None:
    kinds = ("Practitioner", "PractitionerRole", "Schedule", "Coverage")
    rows = [row for kind in kinds for row in clinics.sampled(kind)] + clinics.slots([clinics.TODAY])
    assert len(rows) > 40
    for row in rows:
        assert [str(issue) for issue in fhirkit.parse(json.dumps(row)).issues] == []
