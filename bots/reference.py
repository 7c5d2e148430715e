"""Where a conversation is, as raw JSON: stored with each message, so that any replica can reply."""

from typing import Any, TypeAlias

from bots.inbound import Inbound

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


def conversation_key(reference: Reference) -> str:
    """Return the name of the conversation among those of all channels."""
    return f"{reference['channelId']}/{reference['conversation']['id']}"


def _raw(part: Any) -> dict[str, Any]:
    raw: dict[str, Any] = part.model_dump(by_alias=True, exclude_none=True)
    return raw
