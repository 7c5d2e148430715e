"""Joins the clinic with the records that it reads and writes."""

from zoneinfo import ZoneInfo

import aiohttp

from data_models.blob_store import BlobStore
from data_models.clock import Clock, IdSource
from services.records.records_factory import Records, resources_for
from services.scheduling.clinic import Clinic
from settings import Settings


def clinic_for(
    settings: Settings,
    *,
    patients: Records,
    store: BlobStore,
    session: aiohttp.ClientSession,
    clock: Clock,
    ids: IdSource,
) -> Clinic:
    """Return the clinic of the FHIR server that the settings name, else the sample one.

    Args:
        store: Where the sample clinic keeps what is booked.
    """
    records = resources_for(settings, patients=patients, store=store, session=session, clock=clock)
    return Clinic(records=records, clock=clock, ids=ids, zone=ZoneInfo(settings.time_zone))
