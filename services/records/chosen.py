"""The patient records that the settings ask for."""

import aiohttp

from data_models.clock import Clock
from data_models.errors import ConfigurationError
from services.records.bundle_records import BundleRecords
from services.records.fhir_server_records import FhirServerRecords
from services.records.ports import PatientRecords
from settings import Settings


def records_for(
    settings: Settings, *, session: aiohttp.ClientSession, clock: Clock
) -> PatientRecords:
    """Return a FHIR server's records if `FHIR_BASE_URL` is set, else the sample patients'.

    Raises:
        ConfigurationError: there are no sample patients where `SAMPLES_DIR` says.
    """
    if settings.fhir_base_url is None:
        folder = settings.samples_folder / "patients"
        if not folder.is_dir():
            problem = "SAMPLES_DIR: has no folder named patients. Example: SAMPLES_DIR=./samples"
            raise ConfigurationError(problem)
        return BundleRecords(folder=folder, clock=clock)
    token = settings.fhir_token
    return FhirServerRecords(
        base_url=settings.fhir_base_url,
        token=token.get_secret_value() if token else None,
        identifier_system=settings.fhir_identifier_system,
        session=session,
        clock=clock,
    )
