"""What the settings say that tools reach beside the chart; importing this costs seconds."""

import importlib
from zoneinfo import ZoneInfo

import aiohttp

from data_models.clock import Clock, IdSource
from group_chat.tools.catalogue import Connected
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from group_chat.tools.order_tools import OrderTools
from group_chat.tools.personal import PersonalAssistant
from group_chat.tools.scheduling_tools import SchedulingTools
from services.evidence.evidence_factory import (
    foreign_clients_for,
    guidelines_for,
    research_for,
    studies_for,
)
from services.evidence.foreign.servers import ForeignServers
from services.orders.order_drafts import OrderDrafts
from services.records.ports import PatientRecords
from services.scheduling.clinic import Clinic
from settings import Settings


def connected_for(
    settings: Settings,
    *,
    records: PatientRecords,
    clinic: Clinic,
    orders: OrderDrafts | None,
    office: PersonalAssistant,
    foreign: ForeignServers,
    session: aiohttp.ClientSession,
    clock: Clock,
    ids: IdSource,
) -> Connected:
    """Return it.

    Raises:
        ConfigurationError: a file that a setting names cannot be read.
    """
    importlib.import_module("services.assistant.local_calendar")
    outside = ForeignTools(
        servers=foreign_clients_for(settings, foreign, session=session),
        records=records,
        names=office.names,
    )
    return Connected(
        clinic=SchedulingTools(clinic=clinic, ids=ids, zone=ZoneInfo(settings.time_zone)),
        office=office,
        evidence=EvidenceTools(
            guidelines=guidelines_for(settings, clock=clock),
            studies=studies_for(settings, session=session),
            records=records,
            country=settings.trials_country,
            research=research_for(settings, session=session),
            outside=outside,
        ),
        foreign=outside,
        orders=None if orders is None else OrderTools(drafts=orders, records=records, ids=ids),
    )
