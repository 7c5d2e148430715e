"""The patient records that the settings ask for."""

import aiohttp

from data_models.clock import Clock
from services.records.bundle_records import BundleRecords
from services.records.fhir_server_records import FhirServerRecords
from services.records.ports import PatientRecords
from settings import Settings


def records_for(
    settings: Settings, *, session: aiohttp.ClientSession, clock: Clock
) -> PatientRecords:
    """Return a FHIR server's records if `FHIR_BASE_URL` is set, else the sample patients'."""
    if settings.fhir_base_url is None:
        return BundleRecords(folder=settings.samples_dir / "patients", clock=clock)
    token = settings.fhir_token
    return FhirServerRecords(
        base_url=settings.fhir_base_url,
        token=token.get_secret_value() if token else None,
        identifier_system=settings.fhir_identifier_system,
        session=session,
        clock=clock,
    )
