"""The patient records that the settings ask for, to read and to write."""

from typing import TypeAlias
from zoneinfo import ZoneInfo

import aiohttp

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.errors import ConfigurationError
from services.records.fhir_chosen import fhir_client_for
from services.records.fhir_server_records import FhirServerRecords
from services.records.fhir_server_resources import FhirServerResources
from services.records.folder.files import files_in
from services.records.folder.records import FolderRecords
from services.records.id_pattern import id_fits
from services.records.local_resources import LocalResources
from services.records.views.prepared import prepare_views
from settings import Settings

Records: TypeAlias = FhirServerRecords | FolderRecords
Resources: TypeAlias = FhirServerResources | LocalResources


def records_for(settings: Settings, *, session: aiohttp.ClientSession, clock: Clock) -> Records:
    """Return a FHIR server's records if `FHIR_BASE_URL` is set, else those of a folder of files.

    Raises:
        ConfigurationError: there is no folder where `SAMPLES_DIR` says.
    """
    if settings.fhir_base_url is None:
        return folder_records(settings, clock=clock)
    return FhirServerRecords(
        client=fhir_client_for(settings, session=session, clock=clock),
        clock=clock,
        identifier_system=next(iter(settings.identifier_systems), None),
        fits=id_fits(settings.patient_id_pattern),
        everything=settings.fhir_everything,
    )


def folder_records(settings: Settings, *, clock: Clock) -> FolderRecords:
    """Return the records of `SAMPLES_DIR`.

    Raises:
        ConfigurationError: there is no such folder, or nothing in it.
    """
    folder = settings.samples_part("patients")
    if not folder.is_dir() or not files_in(folder):
        problem = "SAMPLES_DIR: holds no .json or .ndjson file. Example: SAMPLES_DIR=./samples"
        raise ConfigurationError(problem)
    return FolderRecords(
        folder=folder,
        clock=clock,
        systems=settings.identifier_systems,
        fits=id_fits(settings.patient_id_pattern),
        prepare=prepare_views,
    )


def resources_for(
    settings: Settings,
    *,
    patients: Records,
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
    return FhirServerResources(
        client=fhir_client_for(settings, session=session, clock=clock),
        clock=clock,
        identifier_system=next(iter(settings.identifier_systems), None),
    )


def local_resources(settings: Settings, *, patients: Records, store: BlobStore) -> LocalResources:
    """Return the sample clinic's resources."""
    return LocalResources(
        patients=patients,
        folder=settings.samples_part("scheduling"),
        store=store,
        zone=ZoneInfo(settings.time_zone),
    )
