"""Sends activities to the channel that a conversation belongs to, in order, one at a time in each.

botbuilder's connector client is not used for this: it drops fields of entities that it does not
know, follows redirects, and works in threads.
"""

import asyncio
import socket
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote
from weakref import WeakValueDictionary

import aiohttp
import orjson
import structlog
from yarl import URL

from bots.config import PerBot, ServiceUrls
from bots.reference import Activity, Reference, addressed, conversation_key
from data_models import errors
from data_models.clock import Clock
from data_models.errors import ChannelError, ChannelRefusedError, ChannelTooLargeError
from data_models.http_answers import Bounds, HttpAnswer, Tries, ask, repeat, seconds_asked
from data_models.values import read_object
from services.access.limits import GuardedResolver, OutboundPolicy
from services.own_sign_in import TokenSource, ask_signed

CONNECT_SECONDS = 10.0
SEND_SECONDS = 60.0
"""A channel that is slow to accept is waited for: a second request would be a second message."""
TRIES = Tries(5, 60.0, 30.0, first_pause=0.2, most_pause=8.0, jitter=1.0)
ANSWER_LIMIT_BYTES = 16_384
_STREAM_ENDED = "ContentStreamNotAllowed"
_BUSY = {401, 408, 412, 425, 429}
_CLOSED = {403, 404}

logger = structlog.get_logger()


@dataclass(kw_only=True, eq=False, repr=False)
class Connector:
    """The channels' end of the bots; the caller owns `session`."""

    session: aiohttp.ClientSession
    tokens: PerBot[TokenSource]
    service_urls: ServiceUrls
    clock: Clock
    send_seconds: float = SEND_SECONDS

    def __post_init__(self) -> None:
        self._bounds = Bounds(self.send_seconds, ANSWER_LIMIT_BYTES, CONNECT_SECONDS)

    async def send(self, reference: Reference, activity: Activity) -> str:
        """Send `activity` until the channel takes it, a minute at most; return the channel's id.

        Raises:
            ChannelUnavailableError: the channel did not take it in time.
            ChannelClosedError: the conversation takes nothing at all.
            ChannelTooLargeError: it would take less at a time.
            ChannelRefusedError: the channel will not take it.
        """
        return await repeat(partial(self.send_once, reference, activity), TRIES)

    async def send_once(self, reference: Reference, activity: Activity) -> str:
        """Send `activity`, without a second attempt.

        Raises:
            ChannelError: as `send`.
        """
        return await self._request("POST", self._url(reference), reference, activity)

    async def update(self, reference: Reference, activity_id: str, activity: Activity) -> None:
        """Put `activity` in the place of the message `activity_id`, without a second attempt.

        Raises:
            ChannelError: as `send`.
        """
        url = self._url({**reference, "activityId": activity_id})
        await self._request("PUT", url, reference, {**activity, "id": activity_id})

    async def _request(
        self, method: str, url: URL, reference: Reference, activity: Activity
    ) -> str:
        tokens = self.tokens.at(reference.get("agent"))
        send = partial(self._exchange, method, url, reference, activity)
        status, headers, said = await ask_signed(tokens, send)
        _check(status, said, wait_seconds=seconds_asked(headers, now=self.clock.now()))
        return str((read_object(said) or {}).get("id", ""))

    async def _exchange(
        self, method: str, url: URL, reference: Reference, activity: Activity, token: str
    ) -> HttpAnswer:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        body = orjson.dumps(addressed(activity, reference))
        try:
            return await ask(self.session, method, url, self._bounds, data=body, headers=headers)
        except (aiohttp.ClientError, TimeoutError) as error:
            is_open = isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ClientError)
            raise errors.ChannelUnavailableError(
                "the channel did not answer", is_maybe_taken=is_open
            ) from error

    def _url(self, reference: Reference) -> URL:
        base = reference["serviceUrl"]
        if not self.service_urls.allows(base):
            raise errors.ChannelRefusedError("replies may not go to that service URL")
        place = quote(reference["conversation"]["id"], safe="")
        path = f"{base.rstrip('/')}/v3/conversations/{place}/activities"
        reply_to = reference.get("activityId")
        return URL(f"{path}/{quote(reply_to, safe='')}" if reply_to else path, encoded=True)


def channel_session(*, loopback: bool) -> aiohttp.ClientSession:
    """Return the session for replies: no proxies, no private addresses; the caller closes it."""
    policy = OutboundPolicy(hosts=(), networks=(), allow_loopback=loopback)
    resolver = GuardedResolver(policy=policy, resolver=aiohttp.ThreadedResolver())
    # In dev, `localhost` is this machine's IPv4 address too, where the Emulator listens.
    connector = aiohttp.TCPConnector(resolver=resolver, family=socket.AF_UNSPEC, limit=0)
    return aiohttp.ClientSession(connector=connector, trust_env=False)


def _check(status: int, said: bytes, *, wait_seconds: float | None) -> None:
    if status < 300:
        return
    logger.debug("channel_answered", status=status)
    reason = f"the channel answered {status}"
    if status in _BUSY or status >= 500:
        raise errors.ChannelUnavailableError(reason, wait_seconds=wait_seconds)
    error = (read_object(said) or {}).get("error")
    found = error if isinstance(error, dict) else {}
    is_stream = found.get("code") == _STREAM_ENDED
    if status in _CLOSED and not is_stream:
        raise errors.ChannelClosedError(reason)
    if status == 413:
        raise errors.ChannelTooLargeError(reason)
    is_user_stop = is_stream and "cancel" in str(found.get("message", "")).casefold()
    raise errors.ChannelRefusedError(reason, is_user_stop=is_user_stop)


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
