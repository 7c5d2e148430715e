"""Where a conversation is, as raw JSON, and what its channel can show."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bots.inbound import Inbound
from data_models.conversations.incoming_message import IncomingMessage

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
