"""The embedded clinic: a time is booked once, for whoever comes first."""

import asyncio
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from data_models.errors import ToolInputError
from data_models.identifiers import PatientId
from data_models.local_blob_store import LocalBlobStore
from services.scheduling.local import LocalClinic

SAMPLES = Path(__file__).parents[3] / "samples" / "scheduling"
NOW = datetime(2030, 1, 2, 9, 5, tzinfo=UTC)
TODAY, FOUR, SEVEN = NOW.date(), PatientId("patient_4"), PatientId("patient_7")


@pytest.fixture
def clinic(tmp_path: Path) -> LocalClinic:
    return LocalClinic(samples=SAMPLES, store=LocalBlobStore(root=tmp_path))


async def test_doctors_are_found_by_any_part_of_their_name(clinic: LocalClinic) -> None:
    assert [one.doctor_id for one in await clinic.doctors("Dr. smith")] == ["dr-smith"]
    assert [one.doctor_id for one in await clinic.doctors("Nobody")] == []
    assert len(await clinic.doctors("")) == 3


async def test_free_times_lie_ahead_and_within_hours(clinic: LocalClinic) -> None:
    slots = await clinic.free_slots("dr-smith", TODAY, now=NOW)
    assert [slot.start.strftime("%H:%M") for slot in slots][:2] == ["09:30", "10:00"]
    assert slots[-1].end.strftime("%H:%M") == "17:00"
    with pytest.raises(ToolInputError):
        await clinic.free_slots("dr-who", TODAY, now=NOW)


async def test_of_many_who_want_a_time_one_gets_it(clinic: LocalClinic) -> None:
    slot = (await clinic.free_slots("dr-smith", TODAY, now=NOW))[0]
    patients = [PatientId(f"patient_{number}") for number in range(8)]
    tries = [clinic.book(patient, slot.slot_id, "") for patient in patients]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in results) == 1
    assert all(isinstance(one, ToolInputError) for one in results if isinstance(one, Exception))
    free = await clinic.free_slots("dr-smith", TODAY, now=NOW)
    assert slot.slot_id not in {one.slot_id for one in free}


async def test_booking_the_same_twice_books_once(clinic: LocalClinic) -> None:
    slot = (await clinic.free_slots("dr-smith", TODAY, now=NOW))[0]
    first = await clinic.book(FOUR, slot.slot_id, "knee")
    assert await clinic.book(FOUR, slot.slot_id, "knee") == first
    assert [one.reason for one in await clinic.of_patient(FOUR)] == ["knee"]


async def test_nobody_is_at_two_doctors_at_once(clinic: LocalClinic) -> None:
    await clinic.book(FOUR, "slot-dr-smith-20300102T1000", "")
    with pytest.raises(ToolInputError, match="another appointment"):
        await clinic.book(FOUR, "slot-dr-jones-20300102T1000", "")


@pytest.mark.parametrize(
    "slot_id", ["", "slot-", "slot-dr-smith-20300102T0300", "slot-dr-who-20300102T1000", "../x"]
)
async def test_a_time_that_is_none_is_refused(clinic: LocalClinic, slot_id: str) -> None:
    with pytest.raises(ToolInputError, match="no such slot"):
        await clinic.book(FOUR, slot_id, "")


async def test_a_patient_cancels_only_their_own(clinic: LocalClinic) -> None:
    booked = await clinic.book(FOUR, "slot-dr-smith-20300102T1000", "")
    with pytest.raises(ToolInputError):
        await clinic.cancel(SEVEN, booked.appointment_id)
    await clinic.cancel(FOUR, booked.appointment_id)
    assert await clinic.of_patient(FOUR) == []
    await clinic.book(SEVEN, "slot-dr-smith-20300102T1000", "")


async def test_a_person_is_registered_once_and_found(clinic: LocalClinic) -> None:
    born = date(1980, 2, 29)
    first = await clinic.register("Ada Lee", born)
    assert await clinic.register("ada lee", born) == await clinic.register("ada lee", born)
    assert (await clinic.register("Ada Lee", born)).person_id == first.person_id
    assert [one.name for one in await clinic.find("lee")] == ["Ada Lee"]
    assert [one.person_id for one in await clinic.find("lopez")] == ["person-maria-lopez"]


async def test_coverage_ends_with_its_period(clinic: LocalClinic) -> None:
    covered = await clinic.coverage(FOUR, today=TODAY)
    assert covered is not None
    assert covered.is_active
    later = await clinic.coverage(FOUR, today=date(2036, 1, 1))
    assert later is not None
    assert not later.is_active
    cancelled = await clinic.coverage(SEVEN, today=TODAY)
    assert cancelled is not None
    assert not cancelled.is_active
    assert await clinic.coverage(PatientId("patient_999"), today=TODAY) is None
