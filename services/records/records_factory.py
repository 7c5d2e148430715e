"""The patient records that the settings ask for, to read and to write."""

import re
from collections.abc import Callable
from datetime import date
from typing import TypeAlias
from zoneinfo import ZoneInfo

from data_models.clock import Clock
from data_models.errors import ConfigurationError
from data_models.identifiers import PATIENT_ID_LIMIT_CHARS
from services.basis import Basis
from services.records.fhir.fhir_chosen import fhir_client_for
from services.records.fhir.fhir_server_records import FhirServerRecords
from services.records.fhir.fhir_server_resources import FhirServerResources
from services.records.fhir.reading import ReaderOf
from services.records.folder.files import files_in
from services.records.folder.records import FolderRecords
from services.records.local_resources import LocalResources
from services.records.resources.record import PatientRecord
from services.records.rows.measurements import series_of
from services.records.views.course import events_of
from services.records.views.oncology.status import current_status
from settings import Settings

# Whether an identifier fits the operator's pattern of patient ids.


def id_fits(source: str) -> Callable[[str], bool]:
    """Return whether a text is an id after `PATIENT_ID_PATTERN`; it is probed elsewhere.

    Raises:
        ConfigurationError: `source` is no regular expression.
    """
    try:
        compiled = re.compile(source, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        raise ConfigurationError(
            "PATIENT_ID_PATTERN is no regular expression; for example ^patient_[0-9]+$"
        ) from None
    # The length first: it bounds the work on hostile text.
    return lambda text: len(text) <= PATIENT_ID_LIMIT_CHARS and compiled.fullmatch(text) is not None


# Makes ahead what the views of a big chart keep, so that no question waits for it.


def prepare_views(record: PatientRecord) -> None:
    """Have `record` keep its series, its events and what its status is read from."""
    series_of(record)
    events_of(record)
    current_status(record, today=date.min)


Records: TypeAlias = FhirServerRecords | FolderRecords
Resources: TypeAlias = FhirServerResources | LocalResources


def records_for(basis: Basis, *, reader_of: ReaderOf | None = None) -> Records:
    """Return a FHIR server's records if `FHIR_BASE_URL` is set, else those of a folder of files.

    Args:
        reader_of: Who reads a chart of the server where users do with their own tokens.

    Raises:
        ConfigurationError: there is no folder where `SAMPLES_DIR` says.
    """
    settings = basis.settings
    if settings.fhir_base_url is None:
        return folder_records(settings, clock=basis.clock)
    return FhirServerRecords(
        client=fhir_client_for(basis),
        clock=basis.clock,
        identifier_system=next(iter(settings.identifier_systems), None),
        fits=id_fits(settings.patient_id_pattern),
        everything=settings.fhir_everything,
        reader_of=reader_of,
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


def resources_for(basis: Basis, *, patients: Records) -> Resources:
    """Return what can be written: the FHIR server's resources, else the sample clinic's.

    Args:
        patients: The same back end's patients.
    """
    if basis.settings.fhir_base_url is None:
        return local_resources(basis, patients=patients)
    return FhirServerResources(
        client=fhir_client_for(basis),
        clock=basis.clock,
        identifier_system=next(iter(basis.settings.identifier_systems), None),
    )


def local_resources(basis: Basis, *, patients: Records) -> LocalResources:
    """Return the sample clinic's resources."""
    return LocalResources(
        patients=patients,
        folder=basis.settings.samples_part("scheduling"),
        store=basis.users,
        zone=ZoneInfo(basis.settings.time_zone),
        clock=basis.clock,
    )
