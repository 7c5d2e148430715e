"""The parts of Microsoft Graph's objects that we read; everything else in them is passed over."""

from datetime import UTC, date, datetime, time, tzinfo
from typing import Annotated, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from data_models.errors import AssistantError
from services.assistant.graph.graph_client import Json

Shape = TypeVar("Shape", bound="GraphShape")


_ITEMS = BeforeValidator(lambda value: () if value is None else value)
Text: TypeAlias = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Texts: TypeAlias = Annotated[tuple[str, ...], _ITEMS]


class GraphShape(BaseModel):
    """One object; Graph gives `null` for what is empty."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True
    )


class GraphTime(GraphShape):
    """A `dateTimeTimeZone`."""

    date_time: str
    time_zone: str


class GraphAddress(GraphShape):
    """Name and address of somebody."""

    name: Text = ""
    address: Text = ""

    @property
    def line(self) -> str:
        """Both in one line, `Anna Schmidt <anna@hospital.example>`."""
        if not self.name or self.name == self.address:
            return self.address
        return f"{self.name} <{self.address}>" if self.address else self.name


class GraphRecipient(GraphShape):
    """A sender, recipient or attendee."""

    email_address: GraphAddress = GraphAddress()


class GraphLocation(GraphShape):
    """Where an event is."""

    display_name: Text = ""


class GraphEvent(GraphShape):
    """An `event`."""

    id: str
    etag: Text = Field(default="", alias="@odata.etag")
    subject: Text = ""
    start: GraphTime
    end: GraphTime
    is_all_day: bool = False
    is_cancelled: bool = False
    location: GraphLocation | None = None
    attendees: Annotated[tuple[GraphRecipient, ...], _ITEMS] = ()


class GraphBody(GraphShape):
    """The text of a message or a task."""

    content: Text = ""


class GraphMessage(GraphShape):
    """A `message`."""

    id: str
    subject: Text = ""
    sender: GraphRecipient | None = Field(default=None, alias="from")
    to_recipients: Annotated[tuple[GraphRecipient, ...], _ITEMS] = ()
    received: Text = Field(default="", alias="receivedDateTime")
    body_preview: Text = ""
    body: GraphBody | None = None
    is_read: bool | None = True
    is_draft: bool | None = False
    parent_folder_id: Text = ""


class GraphContact(GraphShape):
    """A `contact`."""

    id: str
    etag: Text = Field(default="", alias="@odata.etag")
    display_name: Text = ""
    email_addresses: Annotated[tuple[GraphAddress, ...], _ITEMS] = ()
    mobile_phone: Text = ""
    business_phones: Texts = ()
    home_phones: Texts = ()
    company_name: Text = ""


class GraphLink(GraphShape):
    """A `linkedResource` of a task."""

    external_id: Text = ""


class GraphTask(GraphShape):
    """A `todoTask`."""

    id: str
    title: Text = ""
    status: Text = ""
    due: GraphTime | None = Field(default=None, alias="dueDateTime")
    body: GraphBody | None = None
    linked_resources: Annotated[tuple[GraphLink, ...], _ITEMS] = ()


class GraphTaskList(GraphShape):
    """A `todoTaskList`."""

    id: str
    wellknown_list_name: Text = ""


class GraphFile(GraphShape):
    """The facet that files have and folders do not."""

    mime_type: Text = ""


class GraphItem(GraphShape):
    """A `driveItem`: a file, a folder, or the mark of something deleted."""

    id: str
    name: Text = ""
    size: int = 0
    modified: Text = Field(default="", alias="lastModifiedDateTime")
    file: GraphFile | None = None
    deleted: Json | None = None
    download_url: Text = Field(default="", alias="@microsoft.graph.downloadUrl")


def shaped(shape: type[Shape], row: Json) -> Shape:
    """Return `row` in its shape.

    Raises:
        AssistantError: Graph answered something else.
    """
    try:
        return shape.model_validate(row)
    except ValidationError:
        # `from None`: the cause may quote the mailbox.
        raise AssistantError("Microsoft Graph's answer has another form") from None


# Times as Microsoft Graph writes them: `{"dateTime": …, "timeZone": …}`. Pure.
#
# Times are asked for and given in UTC: no hour exists twice there, and every server knows the name.
# Whole days have no zone of their own; they are given as midnights of the user's.

IN_UTC = 'outlook.timezone="UTC"'
_SECONDS = len("2026-11-24T15:00:00")


def moment_of(value: GraphTime) -> datetime:
    """Return a time that was asked for in UTC.

    Raises:
        AssistantError: it is no such time.
    """
    if value.time_zone != "UTC":
        raise AssistantError("a time is not in UTC")
    return instant_of(value.date_time)


def instant_of(text: str) -> datetime:
    """Return an ISO time; Graph writes fractions of a second with up to seven digits.

    Raises:
        AssistantError: it is no such time.
    """
    try:
        found = datetime.fromisoformat(text[:_SECONDS])
    except ValueError:
        # `from None`: the cause quotes the mailbox.
        raise AssistantError("a time cannot be read") from None
    return found.replace(tzinfo=UTC)


def day_of(value: GraphTime, zone: tzinfo) -> date:
    """Return a whole day.

    Most services give its midnight whatever the zone; some give the instant of the user's.
    """
    at = instant_of(value.date_time)
    return at.date() if at.time() == time() else moment_of(value).astimezone(zone).date()


def midnight(day: date, zone: tzinfo) -> datetime:
    """Return the beginning of a day in the user's zone."""
    return datetime.combine(day, time(), zone)


def given(at: datetime) -> Json:
    """Return a time as Graph takes it."""
    return {"dateTime": f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}", "timeZone": "UTC"}


def given_day(day: date, zone: tzinfo) -> Json:
    """Return a whole day as Graph takes it: midnight, in a zone it knows by name."""
    name = zone.key if isinstance(zone, ZoneInfo) else "UTC"
    return {"dateTime": f"{day.isoformat()}T00:00:00", "timeZone": name}


def odata(at: datetime) -> str:
    """Return a time as a filter has it."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
