"""Sends replies in order, one at a time in each conversation."""

import asyncio
from weakref import WeakValueDictionary

import orjson
import structlog

from bots.connector import Connector
from bots.reference import Activity, Reference, conversation_key
from data_models.errors import ChannelError, ChannelRefusedError, ChannelTooLargeError

# Cuts a long text into messages that a channel takes.

TEXT_LIMIT_BYTES = 20_000
"""Teams takes about 28 kB a message, in UTF-16 and with all that stands around the text."""

_BREAKS = ("\n\n", "\n", ". ", " ")


def wire_size(text: str) -> int:
    """Return the bytes of `text` as the channel may count them, whichever way it does."""
    return max(len(orjson.dumps(text)), len(text.encode("utf-16-le")))


def split_text(
    text: str, *, limit_bytes: int = TEXT_LIMIT_BYTES, first_chars: int = 0
) -> list[str]:
    """Return `text` in parts of at most `limit_bytes`, cut where a reader would pause.

    Args:
        first_chars: What the first part holds at least, if that fits.
    """
    parts: list[str] = []
    rest = text
    while wire_size(rest) > limit_bytes:
        head = rest[: _fitting(rest, limit_bytes)]
        cut = _pause(head, first_chars if not parts else 0)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip("\n")
    return [part for part in (*parts, rest) if part]


def _fitting(text: str, limit_bytes: int) -> int:
    """Return the greatest number of leading characters that fit, at least one."""
    low, high = 1, min(len(text), limit_bytes)
    while low < high:
        middle = (low + high + 1) // 2
        if wire_size(text[:middle]) <= limit_bytes:
            low = middle
        else:
            high = middle - 1
    return low


def _pause(head: str, least_chars: int) -> int:
    """Return where to cut: the last pause in the second half of `head`, else its end."""
    for pause in _BREAKS:
        at = head.rfind(pause, max(len(head) // 2, least_chars))
        if at >= 0:
            return at + len(pause)
    return len(head)


SMALLEST_PART_BYTES = 1_000
"""A channel that refuses even this little for its size does not mean the size."""
_NOT_TAKEN = (
    "*A part of the answer is missing here: this channel did not take it. The answer is kept whole "
    "with the conversation; ask for it again, or in smaller pieces.*"
)

logger = structlog.get_logger()


class Outbox:
    """One line for each conversation."""

    def __init__(self, *, connector: Connector) -> None:
        self._connector = connector
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def send(self, reference: Reference, activity: Activity) -> str:
        """Send `activity` after all that is due before it; return the channel's id.

        What is too large goes in parts, and what the channel will never take is named in a line of
        its own: the user knows that something is missing.

        Raises:
            ChannelError: the channel did not take it, in a minute of trying.
        """
        async with self._line(reference):
            return await self._send_or_split(reference, activity)

    async def end_stream(self, reference: Reference, activity: Activity) -> str:
        """Send the last activity of a stream, as it is; return the channel's id.

        Raises:
            ChannelError: as `send`.
        """
        async with self._line(reference):
            return await self._connector.send(reference, activity)

    async def hint(self, reference: Reference, activity: Activity) -> None:
        """Send what is worth nothing later, such as typing."""
        try:
            await self._connector.send_once(reference, activity)
        except ChannelError as error:
            logger.debug("bot_hint_not_sent", code=error.code)

    def _line(self, reference: Reference) -> asyncio.Lock:
        return self._locks.setdefault(conversation_key(reference), asyncio.Lock())

    async def _send_or_split(self, reference: Reference, activity: Activity) -> str:
        try:
            return await self._connector.send(reference, activity)
        except ChannelTooLargeError:
            halves = _halves(activity)
        except ChannelRefusedError as error:
            halves = []
            logger.warning("bot_reply_refused", code=error.code)
        if not halves:
            return await self._connector.send(reference, {"type": "message", "text": _NOT_TAKEN})
        sent_id = ""
        for half in halves:
            sent_id = await self._send_or_split(reference, half)
        return sent_id


def _halves(activity: Activity) -> list[Activity]:
    """Return `activity` in smaller ones, the last with what is no text; nothing if it is small."""
    text = str(activity.get("text") or "")
    size = wire_size(text)
    if size < 2 * SMALLEST_PART_BYTES:
        return []
    texts = split_text(text, limit_bytes=size // 2 + 1)
    plain = {name: activity[name] for name in ("type", "textFormat") if name in activity}
    return [*({**plain, "text": one} for one in texts[:-1]), {**activity, "text": texts[-1]}]
