"""Who is seen on a day, by the records that the settings name."""

import aiohttp

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from services.identity.directory import Directory
from services.records.fhir_chosen import fhir_client_for
from services.records.folder.records import FolderRecords
from services.records.records_factory import Records, local_resources
from services.views.day_in_folder import DayInFolder
from services.views.day_on_server import DayOnServer
from services.views.day_seen import VisitsByDay
from settings import Settings


def visits_by_day_for(
    settings: Settings,
    *,
    records: Records,
    directory: Directory,
    store: BlobStore,
    session: aiohttp.ClientSession,
    clock: Clock,
) -> VisitsByDay:
    """Return what knows who is seen on a day.

    Args:
        store: Where the sample clinic keeps what is booked.
    """
    if isinstance(records, FolderRecords):
        clinic = local_resources(settings, patients=records, store=store, clock=clock)
        return DayInFolder(records=records, clinic=clinic, directory=directory)
    return _on_server(settings, directory, session, clock)


def day_on_server_for(
    settings: Settings, directory: Directory, session: aiohttp.ClientSession, clock: Clock
) -> DayOnServer | None:
    """Return who is seen on a day by the FHIR server of the settings; None where there is none."""
    if settings.fhir_base_url is None:
        return None
    return _on_server(settings, directory, session, clock)


def _on_server(
    settings: Settings, directory: Directory, session: aiohttp.ClientSession, clock: Clock
) -> DayOnServer:
    client = fhir_client_for(settings, session=session, clock=clock)
    return DayOnServer(client=client, directory=directory)
