"""The back ends of the Assistant that the settings choose."""

from zoneinfo import ZoneInfo

from data_models.clock import Clock, IdSource
from services.assistant.calendar import Calendars
from services.assistant.desk import AssistantDesk
from services.assistant.local_calendar import LocalCalendars
from settings import Settings


def calendars_for(settings: Settings, *, clock: Clock, ids: IdSource) -> Calendars:
    """Return the calendars: files below the data folder, beginning as the sample."""
    sample = settings.samples_folder / "assistant" / "calendar.ics"
    return LocalCalendars(
        folder=settings.data_dir / "assistant",
        sample=sample if sample.is_file() else None,
        zone=ZoneInfo(settings.time_zone),
        clock=clock,
        ids=ids,
    )


def assistant_for(settings: Settings, *, clock: Clock, ids: IdSource) -> AssistantDesk:
    """Return what carries out confirmed requests."""
    return AssistantDesk(calendars=calendars_for(settings, clock=clock, ids=ids))
