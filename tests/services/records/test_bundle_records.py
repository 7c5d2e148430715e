import asyncio
import json
from pathlib import Path

import pytest

from data_models.errors import RecordNotFoundError, RecordsUnavailableError, RecordsUnreadableError
from data_models.identifiers import PatientId
from services.records.folder.records import LOOK_AGAIN_SECONDS, RecordCache
from services.records.resources.record import PatientRecord, record_from_resources
from tests.fakes import FixedClock
from tests.services.records.charts import PATIENT_ID, bundle, ecog, entries, patient, records_in


def write(folder: Path, name: str, content: object) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


async def test_a_bundle_is_read_by_the_patients_id(tmp_path: Path, clock: FixedClock) -> None:
    write(tmp_path, "patient_9", bundle(patient(), ecog("e", "2024-01-01", "1")))
    record = await records_in(tmp_path, clock).load(PATIENT_ID)
    assert [one.ref for one in record.entries_of("Observation")] == ["Observation/e"]


@pytest.mark.parametrize(
    "name", ["patient_1", "../patient_9", "a/b", "", "x" * 300, "pat\nient", "a\x00"]
)
async def test_no_other_name_reaches_a_file(tmp_path: Path, clock: FixedClock, name: str) -> None:
    (tmp_path / "inner").mkdir()
    write(tmp_path, "patient_9", bundle(patient()))
    with pytest.raises(RecordNotFoundError):
        await records_in(tmp_path / "inner", clock).load(PatientId(name))


@pytest.mark.parametrize(
    "content",
    ["", "{", "null", '{"resourceType": "Patient"}', '{"resourceType": "Bundle", "entry": 3}',
     '{"resourceType": "Bundle", "entry": [1]}', "[" * 100_000],
)  # fmt: skip
async def test_a_damaged_file_is_not_an_absent_one(
    tmp_path: Path, clock: FixedClock, content: str
) -> None:
    write(tmp_path, "patient_9", content)
    with pytest.raises(RecordsUnreadableError) as caught:
        await records_in(tmp_path, clock).load(PATIENT_ID)
    assert caught.value.__cause__ is None


async def test_a_damaged_file_costs_no_other_patient(tmp_path: Path, clock: FixedClock) -> None:
    write(tmp_path, "damaged", "{")
    write(tmp_path, "anything", bundle(patient()))
    assert (await records_in(tmp_path, clock).load(PATIENT_ID)).patient.id == "p9"


async def test_the_patient_counts_and_not_the_files_name(tmp_path: Path, clock: FixedClock) -> None:
    write(tmp_path, "patient_8", bundle(patient()))
    records = records_in(tmp_path, clock)
    with pytest.raises(RecordNotFoundError):
        await records.load(PatientId("patient_8"))
    assert (await records.load(PATIENT_ID)).patient_id == PATIENT_ID


async def test_a_file_is_parsed_once_until_it_changes(tmp_path: Path, clock: FixedClock) -> None:
    write(tmp_path, "patient_9", bundle(patient()))
    records = records_in(tmp_path, clock)
    first = await records.load(PATIENT_ID)
    clock.advance(1_000)
    assert await records.load(PATIENT_ID) is first

    write(tmp_path, "patient_9", bundle(patient(), ecog("e", "2024-01-01", "1")))
    clock.advance(LOOK_AGAIN_SECONDS)
    assert len((await records.load(PATIENT_ID)).entries) == 1


class CountingLoads:
    def __init__(self) -> None:
        self.asked: list[PatientId] = []

    async def load(self, patient_id: PatientId) -> PatientRecord:
        self.asked.append(patient_id)
        await asyncio.sleep(0)
        if patient_id == "gone":
            raise RecordNotFoundError
        return record_from_resources(patient_id, entries(patient()))


def one_byte(_: PatientRecord) -> int:
    return 1


async def test_callers_at_the_same_time_share_one_load() -> None:
    cache, loads = RecordCache(limit_bytes=2), CountingLoads()
    found = await asyncio.gather(
        *(cache.get(PATIENT_ID, loads.load, size=one_byte) for _ in range(20))
    )
    assert len(loads.asked) == 1
    assert all(record is found[0] for record in found)


async def test_the_least_recently_used_record_leaves_first() -> None:
    cache, loads = RecordCache(limit_bytes=2), CountingLoads()
    for name in ("a", "b", "a", "c", "a", "b"):
        await cache.get(PatientId(name), loads.load, size=one_byte)
    assert loads.asked == ["a", "b", "c", "b"]


async def test_a_failure_is_not_kept() -> None:
    cache, loads = RecordCache(limit_bytes=2), CountingLoads()
    for _ in range(2):
        with pytest.raises(RecordNotFoundError):
            await cache.get(PatientId("gone"), loads.load, size=one_byte)
    assert loads.asked == ["gone", "gone"]


async def test_a_cancelled_caller_does_not_stop_the_others() -> None:
    cache, loads = RecordCache(limit_bytes=2), CountingLoads()
    first = asyncio.create_task(cache.get(PATIENT_ID, loads.load, size=one_byte))
    second = asyncio.create_task(cache.get(PATIENT_ID, loads.load, size=one_byte))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).patient_id == PATIENT_ID


async def test_a_folder_that_is_gone_is_not_a_patient_without_a_record(tmp_path: Path) -> None:
    records = records_in(tmp_path / "unmounted", FixedClock())
    with pytest.raises(RecordsUnavailableError):
        await records.load(PatientId("patient_9"))
