"""Joins the clinic and drafts of orders with the records that they read and write."""

from zoneinfo import ZoneInfo

from data_models.clock import Clock, IdSource
from services.orders.order_drafts import OrderDrafts
from services.records.records_factory import Resources
from services.scheduling.clinic import Clinic
from settings import Settings


def clinic_for(settings: Settings, *, resources: Resources, clock: Clock, ids: IdSource) -> Clinic:
    """Return the clinic over what the settings say can be written."""
    return Clinic(records=resources, clock=clock, ids=ids, zone=ZoneInfo(settings.time_zone))


def orders_for(settings: Settings, *, resources: Resources, clock: Clock) -> OrderDrafts | None:
    """Return what keeps drafts of orders; None where `ORDER_DRAFTS` is off."""
    return OrderDrafts(records=resources, clock=clock) if settings.order_drafts else None
