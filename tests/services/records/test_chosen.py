"""Which patient records the settings choose."""

from pathlib import Path

import aiohttp
import pytest

from data_models.errors import ConfigurationError
from data_models.identifiers import PatientId
from services.records.folder.records import FolderRecords
from services.records.records_factory import records_for
from tests.basis import basis_of
from tests.given_settings import given_settings
from tests.services.records.charts import patient
from tests.services.records.fhir_fake import FakeFhir, found, running


async def test_without_a_server_the_sample_patients_are_read() -> None:
    async with aiohttp.ClientSession() as session:
        chosen = records_for(basis_of(given_settings(), session))
    assert isinstance(chosen, FolderRecords)


async def test_a_folder_without_patients_stops_the_start(tmp_path: Path) -> None:
    settings = given_settings(samples_dir=tmp_path)
    async with aiohttp.ClientSession() as session:
        with pytest.raises(ConfigurationError, match=r"^SAMPLES_DIR: "):
            records_for(basis_of(settings, session))


async def test_the_identifier_system_of_the_settings_is_asked_for() -> None:
    async with running(FakeFhir()) as fhir, aiohttp.ClientSession() as session:
        fhir.on("Patient", found(patient(identifier=[{"system": "urn:ids", "value": "patient_9"}])))
        chosen = records_for(
            basis_of(
                given_settings(fhir_base_url=fhir.base_url, fhir_identifier_system="urn:ids"),
                session,
            )
        )
        await chosen.load(PatientId("patient_9"))
    assert fhir.requests[0].query["identifier"] == "urn:ids|patient_9"
