"""The directory of the records that the settings name."""

from collections.abc import Callable

import aiohttp

from data_models.clock import Clock
from services.identity.directory import Directory, FileDirectory
from services.identity.linking import SubjectLinker
from services.identity.server_directory import ServerDirectory
from services.records.fhir_chosen import fhir_client_for
from services.records.folder.records import FolderRecords
from services.records.local_resources import LocalResources
from services.records.records_factory import Records, Resources
from settings import Settings


def directory_for(
    settings: Settings,
    fits: Callable[[str], bool],
    patients: Records,
    resources: Resources,
    session: aiohttp.ClientSession,
    clock: Clock,
) -> Directory:
    """Return who the people are of the records that the settings name.

    Args:
        fits: Whether a text has the form of our ids.
        patients: The records themselves.
        resources: The same back end's, with whom the sample clinic registered.
    """
    systems = settings.identifier_systems
    if isinstance(patients, FolderRecords):
        return FileDirectory(
            records=patients,
            fits=fits,
            clock=clock,
            systems=systems,
            more=resources.list_registered if isinstance(resources, LocalResources) else None,
        )
    client = fhir_client_for(settings, session=session, clock=clock)
    return ServerDirectory(client=client, fits=fits, clock=clock, systems=systems)


def linker_for(
    settings: Settings, *, directory: Directory, fits: Callable[[str], bool]
) -> SubjectLinker:
    """Return what links messages to their subject."""
    return SubjectLinker(directory=directory, fits=fits, seconds=settings.directory_seconds)
