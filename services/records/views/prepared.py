"""Makes ahead what the views of a big chart keep, so that no question waits for it."""

from datetime import date

from services.records.measurements import series_of
from services.records.record import PatientRecord
from services.records.views.course import events_of
from services.records.views.status import current_status


def prepare_views(record: PatientRecord) -> None:
    """Have `record` keep its series, its events and what its status is read from."""
    series_of(record)
    events_of(record)
    current_status(record, today=date.min)
