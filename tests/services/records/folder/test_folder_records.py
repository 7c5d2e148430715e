"""Patients of a folder of files with any names."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from data_models.errors import RecordAmbiguousError, RecordNotFoundError, RecordReplacedError
from data_models.identifiers import PatientId
from services.records.__main__ import chart_report, lines_of
from services.records.folder.files import PROBLEMS_LIMIT, ResourceFile
from services.records.folder.records import LOOK_AGAIN_SECONDS, FolderRecords
from services.records.resources.values import value_in
from services.records.views.lists import encounters
from tests.fakes import FixedClock
from tests.logged import everything_logged
from tests.services.records.charts import PATIENT_ID, bundle, ecog, patient, records_in, resource
from tests.tables import with_cases


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def lines(*resources: Any) -> str:
    return "\n".join(json.dumps(each) for each in resources)


def problems(records: FolderRecords) -> Sequence[str]:
    return [str(problem) for problem in records.look().problems]


@pytest.mark.parametrize("kind", ["collection", "searchset", "transaction", "batch", "document"])
async def test_a_bundle_of_any_type_and_name_is_read(tmp_path: Path, kind: str) -> None:
    content = {**bundle(patient(), ecog("e", "2024-01-01", "1")), "type": kind}
    write(tmp_path / "deep" / "Any Name é.json.gz", json.dumps(content))
    record = await records_in(tmp_path, FixedClock()).load(PATIENT_ID)
    assert list(record.entries) == ["Observation/e"]


async def test_ndjson_of_several_patients_and_files_is_grouped_by_owner(tmp_path: Path) -> None:
    other = patient(id="p8", identifier=[{"value": "patient_8"}])
    theirs = resource("Condition", "c8", subject={"reference": "Patient/p8"}, code={"text": "x"})
    write(tmp_path / "Patient.ndjson", lines(patient(), other))
    write(tmp_path / "Condition.000.ndjson.gz", lines(theirs, resource("Condition", "c9")))
    write(tmp_path / "Observation.ndjson", lines(ecog("e", "2024-01-01", "1")))
    records = records_in(tmp_path, FixedClock())
    assert set((await records.load(PATIENT_ID)).entries) == {"Condition/c9", "Observation/e"}
    assert set((await records.load(PatientId("patient_8"))).entries) == {"Condition/c8"}


@with_cases("subject")
async def test_every_form_of_reference_names_the_owner(
    tmp_path: Path, subject: dict[str, Any]
) -> None:
    content = bundle(patient(), resource("Condition", "c", subject=subject))
    write(tmp_path / "a.json", json.dumps(content))
    assert list((await records_in(tmp_path, FixedClock()).load(PATIENT_ID)).entries) == [
        "Condition/c"
    ]


async def test_a_drug_in_a_file_of_its_own_is_found_and_circles_end(tmp_path: Path) -> None:
    request = resource("MedicationRequest", "m", medicationReference={"reference": "Medication/d"})
    drug = {"resourceType": "Medication", "id": "d", "code": {"text": "Aspirin"}}
    maker = {"resourceType": "Organization", "id": "o", "partOf": {"reference": "Organization/o"}}
    drug["manufacturer"] = {"reference": "Organization/o"}
    write(tmp_path / "chart.json", json.dumps(bundle(patient(), request)))
    write(tmp_path / "Medication.ndjson", lines(drug, maker))
    record = await records_in(tmp_path, FixedClock()).load(PATIENT_ID)
    assert [name for name in record.names if name.startswith("Medication/")] == ["Medication/d"]


def chart_id(tmp_path: Path, body: Any, systems: Sequence[str] = ()) -> str:
    write(tmp_path / "one.json", json.dumps(body))
    records = FolderRecords(
        folder=tmp_path, clock=FixedClock(), systems=systems, fits=lambda text: text == "fits-1"
    )
    (found,) = records.look().charts
    return found


def test_the_id_is_of_the_system_then_the_pattern_then_the_resource(
    tmp_path: Path,
) -> None:
    rows = [{"system": "urn:a", "value": "fits-1"}, {"system": "urn:mrn", "value": "77"}]
    body = patient(identifier=rows)
    assert chart_id(tmp_path, body, systems=["urn:mrn"]) == "77"
    assert chart_id(tmp_path, body) == "fits-1"
    assert chart_id(tmp_path, patient(identifier=rows[1:])) == "p9"


def test_an_id_that_no_name_in_storage_may_hold_becomes_a_hash(tmp_path: Path) -> None:
    rows = [{"system": "urn:mrn", "value": "../77 ä"}]
    found = chart_id(tmp_path, patient(identifier=rows), systems=["urn:mrn"])
    assert found.startswith("h-")
    assert len(found) == 26
    again = chart_id(tmp_path, patient(identifier=rows, birthDate="1950"), systems=["urn:mrn"])
    assert again == found


@pytest.mark.parametrize("retired", [{"use": "old"}, {"period": {"end": "2001-01-01"}}])
def test_a_retired_identifier_opens_nobody(tmp_path: Path, retired: dict[str, Any]) -> None:
    body = patient(identifier=[{"system": "urn:mrn", "value": "mrn-77", **retired}])
    assert chart_id(tmp_path, body, systems=["urn:mrn"]) == "p9"
    records = records_in(tmp_path, FixedClock())
    records.look()
    assert records.named("mrn-77") is None


async def test_all_identifiers_lead_to_the_one_chart(tmp_path: Path) -> None:
    rows = [{"value": "patient_9"}, {"system": "urn:mrn", "value": "MRN-77"}]
    write(tmp_path / "a.json", json.dumps(bundle(patient(identifier=rows))))
    records = records_in(tmp_path, FixedClock())
    assert records.named("p9") is None  # nothing was looked at yet
    records.look()
    assert {records.named(text) for text in ("p9", "mrn-77", "patient_9")} == {PATIENT_ID}


async def test_two_people_of_one_id_are_neither_opened_nor_mixed(tmp_path: Path) -> None:
    for name, key in (("Ada", "a"), ("Bert", "b")):
        body = patient(id=key, name=[{"given": [name]}], birthDate="1950-01-01")
        write(tmp_path / f"{key}.json", json.dumps(bundle(body)))
    with pytest.raises(RecordAmbiguousError):
        await records_in(tmp_path, FixedClock()).load(PATIENT_ID)


async def test_people_who_share_a_resource_id_keep_what_their_file_has(
    tmp_path: Path,
) -> None:
    for number in (1, 2):
        body = patient(identifier=[{"system": "urn:ids", "value": f"patient_{number}"}])
        write(
            tmp_path / f"{number}.json", json.dumps(bundle(body, ecog(f"e{number}", "2024", "1")))
        )
    records = records_in(tmp_path, FixedClock())
    for number in (1, 2):
        found = await records.load(PatientId(f"patient_{number}"))
        assert list(found.entries) == [f"Observation/e{number}"]


async def test_a_merged_chart_says_so_and_is_listed(tmp_path: Path) -> None:
    link = [{"type": "replaced-by", "other": {"reference": "Patient/p10"}}]
    write(tmp_path / "a.json", json.dumps(bundle(patient(active=False, link=link))))
    records = records_in(tmp_path, FixedClock())
    with pytest.raises(RecordReplacedError):
        await records.load(PATIENT_ID)
    (found,) = (await records.all_patients()).patients
    assert found.body["active"] is False


async def test_a_new_file_and_a_removed_one_show_within_seconds(tmp_path: Path) -> None:
    clock = FixedClock()
    records = records_in(tmp_path, clock)
    records.look()
    write(tmp_path / "new.json", json.dumps(bundle(patient())))
    clock.advance(LOOK_AGAIN_SECONDS)
    assert (await records.load(PATIENT_ID)).patient.id == "p9"
    (tmp_path / "new.json").unlink()
    clock.advance(LOOK_AGAIN_SECONDS)
    with pytest.raises(RecordNotFoundError):
        await records.load(PATIENT_ID)


@pytest.mark.parametrize("alone", [True, False])
async def test_who_wrote_a_letter_is_told_from_its_provenance(tmp_path: Path, alone: bool) -> None:
    letter = resource("DocumentReference", "d", status="current", type={"text": "Letter"})
    written = {
        "resourceType": "Provenance", "id": "w", "target": [{"reference": "DocumentReference/d"}],
        "agent": [
            {"type": {"coding": [{"code": "transmitter"}]}, "who": {"display": "A Gateway"}},
            {"type": {"coding": [{"code": "author"}]}, "who": {"reference": "Practitioner/m"}},
        ],
    }  # fmt: skip
    doctor = {"resourceType": "Practitioner", "id": "m", "name": [{"family": "Meier"}]}
    others = [] if alone else [patient(id="p10", identifier=[{"value": "patient_10"}])]
    content = bundle(patient(), *others, letter, written, doctor)
    write(tmp_path / "a.json", json.dumps(content))
    record = await records_in(tmp_path, FixedClock()).load(PATIENT_ID)
    assert [document.author for document in record.documents] == ["Meier"]
    if not alone:
        other = await records_in(tmp_path, FixedClock()).load(PatientId("patient_10"))
        assert "Provenance/w" not in other.names


async def test_a_truncated_bundle_is_served_as_far_as_it_goes(tmp_path: Path) -> None:
    text = json.dumps(bundle(patient(), ecog("e", "2024", "1"), ecog("f", "2024", "2")))
    write(tmp_path / "cut.json", text[: text.index('"f"') + 40])
    records = records_in(tmp_path, FixedClock())
    record = await records.load(PATIENT_ID)
    assert list(record.entries) == ["Observation/e"]
    assert "1 entry could not be read" in (record.left_out.sentence() or "")
    assert problems(records)[0].startswith("cut.json: after entry 2: ends in the middle")


async def test_entries_of_wrong_types_cost_themselves_only(tmp_path: Path) -> None:
    content = bundle(patient(), ecog("e", "2024", "1"))
    content["entry"] += [7, {"resource": "text"}, {"resource": {"id": "x"}}, {"request": {}}]
    write(tmp_path / "odd.json", json.dumps(content))
    records = records_in(tmp_path, FixedClock())
    assert list((await records.load(PATIENT_ID)).entries) == ["Observation/e"]
    assert [text.split(": ")[1] for text in problems(records)] == ["entry 3", "entry 4", "entry 5"]


async def test_the_log_counts_what_was_skipped_and_says_what_names_it(tmp_path: Path) -> None:
    """Files carry patients' names, so they stand in no log."""
    odd = resource("Observation", "odd", valueQuantity={"value": "secret words"})
    write(tmp_path / "chart-7.json", json.dumps(bundle(patient(), odd)))
    write(tmp_path / "Doe_Jane.json", "{")
    with everything_logged() as stream:
        await records_in(tmp_path, FixedClock()).load(PATIENT_ID)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    skipped = [one for one in lines if one["event"] == "records_skipped"]
    assert [(one["count"], one["tool"]) for one in skipped] == [(1, "services.records")] * 2
    assert "Doe" not in stream.getvalue()
    assert "secret words" not in stream.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("text", ['{"x": "' + "0" * 5_000_000, " " * 5_000_000, "[" + "1," * 10**6])
def test_a_gzip_bomb_ends_at_the_limit(tmp_path: Path, text: str) -> None:
    write(tmp_path / "bomb.json.gz", text)
    file = ResourceFile(path=tmp_path / "bomb.json.gz", name="bomb", limit_bytes=1_500_000)
    assert not list(file.entries())
    assert "bomb: is over 1500000 bytes when unpacked" in map(str, file.problems)
    assert len(file.problems) <= PROBLEMS_LIMIT + 2


def test_what_unpacks_to_too_much_costs_its_rest_only(tmp_path: Path) -> None:
    begun = json.dumps(bundle(patient(), ecog("e", "2024", "1")))[:-2]
    rest = ', {"resource": {"resourceType": "Basic", "x": "' + "0" * 10**6 + '"}}'
    write(tmp_path / "bomb.json.gz", begun + rest * 4)
    file = ResourceFile(path=tmp_path / "bomb.json.gz", name="bomb", limit_bytes=1_500_000)
    assert len(list(file.entries())) == 3
    assert [one.reason for one in file.problems] == ["is over 1500000 bytes when unpacked"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x1f\x8b nonsense", "damaged gzip"),
        (gzip.compress(b"{}" * 900, mtime=0)[:-9], "damaged gzip"),
    ],
    ids=["no gzip", "cut short"],
)
def test_a_damaged_gzip_file_is_named(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "x.json.gz").write_bytes(data)
    assert any(said in text for text in problems(records_in(tmp_path, FixedClock())))


def test_deep_nesting_and_bundles_in_bundles_end(tmp_path: Path) -> None:
    deep: Any = bundle(patient())
    for _ in range(9):
        deep = bundle(deep)
    write(tmp_path / "deep.json", json.dumps(deep))
    write(tmp_path / "brackets.json", '{"resourceType": "Bundle", "entry": ' + "[" * 200_000)
    said = " ".join(problems(records_in(tmp_path, FixedClock())))
    assert "is a Bundle within 3 Bundles" in said
    assert "nested too deeply" in said


async def test_values_keep_the_digits_that_were_written(tmp_path: Path) -> None:
    body = '{"resourceType":"Observation","id":"o","subject":{"reference":"Patient/p9"},'
    body += '"code":{"text":"K"},"valueQuantity":{"value":4.10,"unit":"mmol/L"}}'
    write(tmp_path / "a.ndjson", f"{json.dumps(patient())}\n{body}")
    record = await records_in(tmp_path, FixedClock()).load(PATIENT_ID)
    (found,) = record.entries_of("Observation")
    assert value_in(found.raw).whole == "4.10 mmol/L"


async def test_what_a_history_deleted_is_gone_and_the_newest_counts(
    tmp_path: Path,
) -> None:
    content = bundle(patient(), ecog("kept", "2024-01-01", "1"), ecog("gone", "2024-01-02", "2"))
    deleted = {"request": {"method": "DELETE", "url": "Observation/gone"}}
    content["entry"].insert(1, deleted)
    write(tmp_path / "a.json", json.dumps({**content, "type": "history"}))
    record = await records_in(tmp_path, FixedClock()).load(PATIENT_ID)
    assert list(record.entries) == ["Observation/kept"]


async def test_an_appointment_of_several_is_each_ones_and_names_no_other(
    tmp_path: Path,
) -> None:
    other = patient(id="p8", identifier=[{"value": "patient_8"}])
    base = "http://ehr.example/fhir"
    actors = [
        {"reference": f"{base}/Patient/p9", "display": "Ada Example"},
        {"reference": f"{base}/Patient/p8", "display": "Somebody Else"},
        {"display": "Dr. Abel"},
    ]
    group = {
        "resourceType": "Appointment", "id": "a", "status": "booked", "start": "2027-01-05",
        "participant": [{"actor": actor} for actor in actors],
    }  # fmt: skip
    write(tmp_path / "a.json", json.dumps(bundle(patient(), other, group)))
    record = await records_in(tmp_path, FixedClock()).load(PATIENT_ID)
    (row,) = encounters(record, now="2026-11-22").rows
    assert row.detail == "with Dr. Abel"


async def test_what_names_no_patient_is_left_out_and_counted(tmp_path: Path) -> None:
    nameless = {key: value for key, value in ecog("e", "2024", "1").items() if key != "subject"}
    inside = ecog("f", "2024", "2", subject={"reference": "#p"})
    inside["contained"] = [patient(id="p")]
    write(tmp_path / "a.json", json.dumps(bundle(patient(), nameless, inside)))
    records = records_in(tmp_path, FixedClock())
    record = await records.load(PATIENT_ID)
    assert not record.entries
    assert record.left_out.other_patient == 2
    index = records.look()
    reports = [chart_report(index, chart) for chart in index.charts.values()]
    assert [*lines_of(index, reports)][-1] == (
        "Nobody's: 2 resources beside patient_9 name nobody known"
    )
