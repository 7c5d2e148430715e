"""An activity as it comes in, checked once at the edge; where its conversation is, as raw JSON."""

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import orjson
from pydantic import AliasGenerator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import BadFrameError
from data_models.identifiers import CONVERSATION_ID_LIMIT_CHARS

_TIME_ZONE = re.compile(r"[A-Za-z0-9_+/-]{1,64}")

Identifier = Annotated[str, Field(min_length=1, max_length=CONVERSATION_ID_LIMIT_CHARS)]
ShortText = Annotated[str, Field(max_length=1_000)]


class Answer(NamedTuple):
    """What the request itself is answered with."""

    body: Any
    status: int = HTTPStatus.OK


class Part(BaseModel):
    """A piece of what a channel sends; fields that it does not name are ignored."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        strict=True,
        alias_generator=AliasGenerator(validation_alias=to_camel, serialization_alias=to_camel),
        populate_by_name=True,
        hide_input_in_errors=True,
    )


class Account(Part):
    """A user or a bot, as the channel names it."""

    id: Identifier
    name: ShortText | None = None
    role: ShortText | None = None
    aad_object_id: ShortText | None = None


class Place(Part):
    """The channel's conversation."""

    id: Identifier
    name: ShortText | None = None
    is_group: bool | None = None
    conversation_type: ShortText | None = None
    tenant_id: ShortText | None = None


class Entity(Part):
    """Something the channel marked in the text; of mentions we read who and how it is spelt."""

    type: ShortText | None = None
    text: str | None = None
    mentioned: Account | None = None


class Attachment(Part):
    """What came with a text; only of which kind it is."""

    content_type: ShortText | None = None


class Inbound(Part):
    """One activity. What a type of activity cannot do without is checked where it is handled."""

    type: Annotated[str, Field(min_length=1, max_length=100)]
    id: Identifier | None = None
    channel_id: Annotated[str, Field(max_length=100)] | None = None
    service_url: Annotated[str, Field(max_length=2_000)] | None = None
    conversation: Place | None = None
    from_: Account | None = Field(default=None, alias="from")
    recipient: Account | None = None
    text: str | None = None
    reply_to_id: Annotated[str, Field(max_length=1_000)] | None = None
    value: Any = Field(default=None, repr=False)
    name: ShortText | None = None
    entities: list[Entity] | None = None
    attachments: list[Attachment] | None = None
    members_added: list[Account] | None = None
    channel_data: Any = Field(default=None, repr=False)
    delivery_mode: ShortText | None = None
    locale: ShortText | None = None
    local_timezone: ShortText | None = None

    @property
    def expects_replies(self) -> bool:
        """Whether the answer to the request itself shall carry the replies."""
        return (self.delivery_mode or "").lower() == "expectreplies"

    @property
    def tenant(self) -> str | None:
        """The directory of the conversation, if the channel names one and only one."""
        place = self.conversation
        tenants = (_tenant_of(self.channel_data), None if place is None else place.tenant_id)
        named = {name.lower() for name in tenants if name}
        return named.pop() if len(named) == 1 else None

    @property
    def event(self) -> str | None:
        """What Teams says has become of a message."""
        data = self.channel_data if isinstance(self.channel_data, dict) else {}
        found = data.get("eventType")
        return found if isinstance(found, str) else None

    @property
    def time_zone(self) -> str | None:
        """The user's IANA time zone, if the channel tells it."""
        zone = self.local_timezone or ""
        return zone if _TIME_ZONE.fullmatch(zone) else None


def parse_activity(body: bytes) -> Inbound:
    """Return the activity in `body`.

    Raises:
        BadFrameError: not JSON (NaN and lone surrogates are not), or not of an activity's shape.
    """
    try:
        return Inbound.model_validate(orjson.loads(body))
    except (orjson.JSONDecodeError, ValidationError):
        # Not `from error`: both quote what the user wrote.
        raise BadFrameError("not an activity") from None


def _tenant_of(channel_data: Any) -> str | None:
    tenant = channel_data.get("tenant") if isinstance(channel_data, dict) else None
    found = tenant.get("id") if isinstance(tenant, dict) else None
    return found if isinstance(found, str) else None


Reference: TypeAlias = dict[str, Any]
Activity: TypeAlias = dict[str, Any]


def reference_of(activity: Inbound, *, agent: str | None) -> Reference:
    """Return what a reply to `activity` needs: a conversation reference of the Bot Framework.

    Two parts are ours. `pressedId`: the message whose button was pressed, if one was. `agent`:
    whose bot was spoken to, so that it sends every reply, however late and from wherever.
    """
    parts = {"conversation": activity.conversation, "user": activity.from_}
    found = {name: _raw(part) for name, part in parts.items() if part is not None}
    bot = activity.recipient
    return {
        "activityId": activity.id,
        "channelId": activity.channel_id,
        "serviceUrl": activity.service_url,
        "locale": activity.locale,
        "bot": None if bot is None else _raw(bot),
        "agent": agent,
        "pressedId": None if activity.value is None else activity.reply_to_id,
        **found,
    }


def addressed(activity: Activity, reference: Reference) -> Activity:
    """Return `activity` as a reply into the conversation of `reference`."""
    names = {
        "channelId": reference.get("channelId"),
        "serviceUrl": reference.get("serviceUrl"),
        "conversation": reference.get("conversation"),
        "from": reference.get("bot"),
        "recipient": reference.get("user"),
        "replyToId": reference.get("activityId"),
        "locale": reference.get("locale"),
    }
    return {**activity, **{name: value for name, value in names.items() if value is not None}}


def place_of(message: IncomingMessage) -> Reference:
    """Return where replies to a message of a channel go."""
    return message.delivery or {}


def conversation_key(reference: Reference) -> str:
    """Return the name of the conversation among those of all channels."""
    return f"{reference['channelId']}/{reference['conversation']['id']}"


def _raw(part: Any) -> dict[str, Any]:
    raw: dict[str, Any] = part.model_dump(by_alias=True, exclude_none=True)
    return raw


# What the channel of a conversation can show.

TEAMS = "msteams"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What may be sent into one conversation.

    Attributes:
        streams: Text while it is written; Teams knows it in one-to-one chats only.
        cites: Sources that are marks with a card each, not lines of text.
        takes_feedback: Thumbs under a message.
        draws_tables: Tables and charts in cards; elsewhere a table is text.
        suggests: Buttons for what the user may say next.
        is_quiet: Nothing is said twice: a plan's card goes with the message that proposes it, is
            brought up to date there, and stands for the lines that call its steps.
        files: How a file gets there: into the user's own drive after a yes, within the message,
            or not at all.
    """

    streams: bool = False
    cites: bool = False
    takes_feedback: bool = False
    draws_tables: bool = False
    suggests: bool = False
    is_quiet: bool = False
    files: Literal["consent", "inline", "none"] = "none"


_PERSONAL = Abilities(
    streams=True,
    cites=True,
    takes_feedback=True,
    draws_tables=True,
    suggests=True,
    is_quiet=True,
    files="consent",
)
# Teams shows suggested actions, streams and file consent to one person only.
_GROUP = Abilities(cites=True, takes_feedback=True, draws_tables=True, is_quiet=True)


def abilities_of(reference: Reference) -> Abilities:
    """Return what the conversation of `reference` can show."""
    place = reference["conversation"]
    if reference.get("channelId") != TEAMS:
        return Abilities(suggests=not place.get("isGroup"), files="inline")
    kind = place.get("conversationType")
    return _PERSONAL if kind == "personal" else _GROUP
