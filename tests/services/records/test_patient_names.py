"""Who the other patients are."""

import json
from datetime import date
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from data_models.errors import RecordsUnreadableError
from data_models.identifiers import PatientId
from services.records import patient_names
from services.records.patient_names import RecordedNames, forms_of, patient_names_for
from services.records.records_factory import records_for, resources_for
from services.records.resources.fhir_types import HumanName
from services.scheduling.fhir import patient_resource
from tests.basis import basis_of
from tests.fakes import FixedClock
from tests.given_settings import given_settings
from tests.services.records.charts import records_in
from tests.services.scheduling.clinics import local_records

SAMPLES = Path(__file__).parents[3] / "samples" / "patients"
P4, P15 = PatientId("patient_4"), PatientId("patient_15")


def bundle(folder: Path, patient: str, family: str, given: str) -> None:
    name = [{"family": family, "given": [given]}]
    entry = {"resource": {"resourceType": "Patient", "id": patient, "name": name}}
    text = json.dumps({"resourceType": "Bundle", "type": "collection", "entry": [entry]})
    (folder / f"{patient}.json").write_text(text, encoding="utf-8")


async def test_everybody_but_the_active_patient_is_known_by_id_and_name() -> None:
    names = RecordedNames(records=records_in(SAMPLES, FixedClock()), clock=FixedClock())
    others = await names.names_of_others(P4, ["patient_15", "patient_99"])
    assert {"patient_15", "patient_99", "Doyle", "Francis Doyle", "Çelik-Sørensen"} <= others
    assert not {"patient_4", "Whitfield", "Margaret Whitfield"} & others
    assert "Whitfield" in await names.names_of_others(P15, [])


async def test_who_shares_the_patients_family_name_is_known_in_full(
    tmp_path: Path,
) -> None:
    bundle(tmp_path, "patient_4", "Novak", "Petra")
    bundle(tmp_path, "patient_15", "Novak", "Jan")
    names = RecordedNames(records=records_in(tmp_path, FixedClock()), clock=FixedClock())
    others = await names.names_of_others(P4, [])
    assert "Jan Novak" in others
    assert "Novak" not in others


async def test_a_new_patient_is_known_within_five_minutes(tmp_path: Path) -> None:
    bundle(tmp_path, "patient_4", "Novak", "Petra")
    clock = FixedClock()
    names = RecordedNames(records=records_in(tmp_path, clock), clock=clock)
    assert await names.names_of_others(P4, []) == frozenset()
    bundle(tmp_path, "patient_15", "Okafor", "Ada")
    clock.advance(301)
    assert "Okafor" in await names.names_of_others(P4, [])


async def test_records_that_cannot_be_read_name_nobody_and_say_so(tmp_path: Path) -> None:
    (tmp_path / "patient_4.json").write_text("{", encoding="utf-8")
    names = RecordedNames(records=records_in(tmp_path, FixedClock()), clock=FixedClock())
    with pytest.raises(RecordsUnreadableError):
        await names.names_of_others(P15, [])


async def test_more_patients_than_can_be_kept_back_end_it_instead_of_some_being_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_names, "PATIENTS_LIMIT", 2)
    clock = FixedClock()
    names = RecordedNames(records=records_in(tmp_path, clock), clock=clock)
    for number in range(2):
        bundle(tmp_path, f"patient_{number}", f"Family{number}", "Given")
    assert {"Family0", "Family1"} <= await names.names_of_others(P4, ())
    bundle(tmp_path, "patient_2", "Family2", "Given")
    clock.advance(301)
    with pytest.raises(RecordsUnreadableError):
        await names.names_of_others(P4, ())


def test_a_family_name_that_is_a_word_counts_with_a_given_name_only() -> None:
    forms = set(forms_of(HumanName(family="Ward", given=("Ann", "Mary"))))
    assert "Ward" not in forms
    assert {"Ann Ward", "Ward Ann", "Ann Mary Ward", "A Ward"} <= forms


async def test_answers_for_many_conversations_are_not_all_kept() -> None:
    names = RecordedNames(records=records_in(SAMPLES, FixedClock()), clock=FixedClock())
    first = await names.names_of_others(P4, ["patient_100"])
    for number in range(50):
        await names.names_of_others(P4, [f"patient_{number + 100}"])
    assert await names.names_of_others(P4, ["patient_100"]) == first
    assert len(names.kept) == patient_names.KEPT_ANSWERS


async def test_who_was_registered_without_a_record_is_withheld_too(tmp_path: Path) -> None:
    clinic = local_records(tmp_path)
    clock = FixedClock()
    names = RecordedNames(records=records_in(SAMPLES, clock), clock=clock, clinic=clinic)
    await clinic.create_once(patient_resource("Ada Leeward", date(1981, 2, 27)))
    others = await names.names_of_others(P4, ())
    assert {"Maria Lopez", "Ada Leeward", "Doyle"} <= others
    assert not {"patient_4", "patient-4", "Whitfield"} & others


async def test_a_fhir_server_lists_its_patients_page_by_page() -> None:
    asked: list[str] = []

    async def patients(request: web.Request) -> web.Response:
        asked.append(request.query_string)
        page = int(request.query.get("page", "1"))
        resource = {
            "resourceType": "Patient",
            "id": f"{page}",
            "identifier": [{"value": f"patient_{page}"}],
            "name": [{"family": f"Family{page}", "given": ["Ada"]}],
        }
        following = [{"relation": "next", "url": str(request.url.with_query(page=page + 1))}]
        bundle = {
            "resourceType": "Bundle",
            "type": "searchset",
            "entry": [{"resource": resource}],
            "link": following if page < 3 else [],
        }
        return web.json_response(bundle)

    app = web.Application()
    app.router.add_get("/r4/Patient", patients)
    async with TestServer(app) as server, aiohttp.ClientSession() as session:
        settings = given_settings(fhir_base_url=str(server.make_url("/r4")))
        basis = basis_of(settings, session)
        records = records_for(basis)
        resources = resources_for(basis, patients=records)
        names = patient_names_for(records, resources, clock=basis.clock)
        others = await names.names_of_others(PatientId("patient_2"), ["patient_1"])
        await names.names_of_others(PatientId("patient_1"), [])
    assert {"patient_1", "patient_3", "Ada Family3", "Family1"} <= others
    assert not {"patient_2", "Family2", "1", "2", "3"} & others
    assert len(asked) == 3  # kept for five minutes
    assert "_elements=identifier,name," in asked[0]
