"""Joins the clinic and drafts of orders with the records that they read and write."""

from zoneinfo import ZoneInfo

import aiohttp

from data_models.blob_store import BlobStore
from data_models.clock import Clock, IdSource
from services.orders.order_drafts import OrderDrafts
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


def orders_for(
    settings: Settings,
    *,
    patients: Records,
    store: BlobStore,
    session: aiohttp.ClientSession,
    clock: Clock,
) -> OrderDrafts | None:
    """Return what keeps drafts of orders; None where `ORDER_DRAFTS` is off.

    Args:
        store: Where they are kept without a FHIR server.
    """
    if not settings.order_drafts:
        return None
    records = resources_for(settings, patients=patients, store=store, session=session, clock=clock)
    return OrderDrafts(records=records, clock=clock)
