"""The patient records that the settings ask for, to read and to write."""

from typing import TypeAlias
from zoneinfo import ZoneInfo

import aiohttp

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.errors import ConfigurationError
from services.records.bundle_patients import BundlePatients
from services.records.bundle_records import BundleRecords
from services.records.fhir_server_records import FhirServerRecords
from services.records.fhir_server_resources import FhirServerResources
from services.records.local_resources import LocalResources
from services.records.ports import PatientRecords
from settings import Settings

Resources: TypeAlias = FhirServerResources | LocalResources


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


def resources_for(
    settings: Settings,
    *,
    patients: PatientRecords,
    store: BlobStore,
    session: aiohttp.ClientSession,
    clock: Clock,
) -> Resources:
    """Return what can be written: the FHIR server's resources, else the sample clinic's.

    Args:
        patients: The same back end's patients.
        store: Where the sample clinic keeps what is written.
    """
    if settings.fhir_base_url is None:
        return local_resources(settings, patients=patients, store=store)
    token = settings.fhir_token
    return FhirServerResources(
        base_url=settings.fhir_base_url,
        token=token.get_secret_value() if token else None,
        identifier_system=settings.fhir_identifier_system,
        session=session,
        clock=clock,
    )


def local_resources(
    settings: Settings, *, patients: PatientRecords, store: BlobStore
) -> LocalResources:
    """Return the sample clinic's resources."""
    return LocalResources(
        patients=patients,
        registered=BundlePatients(folder=settings.samples_folder / "patients"),
        folder=settings.samples_folder / "scheduling",
        store=store,
        zone=ZoneInfo(settings.time_zone),
    )
