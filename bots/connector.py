"""Sends activities to the channel that a conversation belongs to.

botbuilder's connector client is not used for this: it drops fields of entities that it does not
know, follows redirects, and works in threads.
"""

import socket
from typing import Any
from urllib.parse import quote

import aiohttp
import orjson
import stamina
import structlog
from yarl import URL

from bots.per_bot import PerBot
from bots.reference import Activity, Reference, addressed
from bots.service_urls import ServiceUrls
from bots.tokens import TokenSource
from data_models.errors import ChannelRefusedError, ChannelUnavailableError
from services.access.outbound import GuardedResolver, OutboundPolicy

ATTEMPTS = 5
SEND_SECONDS = 10.0
RETRY_SECONDS = 60.0
LONGEST_WAIT_SECONDS = 30.0
ANSWER_LIMIT_BYTES = 16_384
_STREAM_ENDED = "ContentStreamNotAllowed"
_BUSY = {408, 412, 425, 429}

logger = structlog.get_logger()


class Connector:
    """The channels' end of the bots; the caller owns `session`."""

    def __init__(
        self,
        *,
        session: aiohttp.ClientSession,
        tokens: PerBot[TokenSource],
        service_urls: ServiceUrls,
    ) -> None:
        self._session = session
        self._tokens = tokens
        self._service_urls = service_urls
        self._timeout = aiohttp.ClientTimeout(total=SEND_SECONDS)

    async def send(self, reference: Reference, activity: Activity) -> str:
        """Send `activity` until the channel takes it, a minute at most; return the channel's id.

        A channel that took it and could not say so gets it twice: better than never.

        Raises:
            ChannelUnavailableError: the channel did not take it in time.
            ChannelRefusedError: the channel will not take it.
        """
        attempts = stamina.retry_context(
            on=_wait_of, attempts=ATTEMPTS, timeout=RETRY_SECONDS, wait_initial=0.2, wait_max=8.0
        )
        async for attempt in attempts:
            with attempt:
                return await self.send_once(reference, activity)
        raise ChannelUnavailableError("no attempt was made")

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
        token = await self._tokens.at(reference.get("agent")).token()
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        body = orjson.dumps(addressed(activity, reference))
        try:
            async with self._session.request(
                method,
                url,
                data=body,
                headers=headers,
                timeout=self._timeout,
                allow_redirects=False,
            ) as answer:
                said = await answer.content.read(ANSWER_LIMIT_BYTES)
                _check(answer, said)
                return str(_json(said).get("id", ""))
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ChannelUnavailableError("the channel did not answer") from error

    def _url(self, reference: Reference) -> URL:
        base = reference["serviceUrl"]
        if not self._service_urls.allows(base):
            raise ChannelRefusedError("replies may not go to that service URL")
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


def _check(answer: aiohttp.ClientResponse, said: bytes) -> None:
    if answer.status < 300:
        return
    logger.debug("channel_answered", status=answer.status)
    if answer.status in _BUSY or answer.status >= 500:
        wait = _seconds(answer.headers.get("Retry-After"))
        raise ChannelUnavailableError(f"the channel answered {answer.status}", wait_seconds=wait)
    raise ChannelRefusedError(
        f"the channel answered {answer.status}", is_user_stop=_is_user_stop(said)
    )


def _is_user_stop(said: bytes) -> bool:
    """Tell whether Teams refused an update because the user pressed its Stop button."""
    error = _json(said).get("error")
    found = error if isinstance(error, dict) else {}
    code, message = str(found.get("code", "")), str(found.get("message", ""))
    return code == _STREAM_ENDED and "cancel" in message.casefold()


def _wait_of(error: Exception) -> bool | float:
    """Tell stamina whether to try again, and after how many seconds if the channel said."""
    if not isinstance(error, ChannelUnavailableError):
        return False
    if error.wait_seconds is None:
        return True
    return error.wait_seconds if error.wait_seconds <= LONGEST_WAIT_SECONDS else False


def _seconds(retry_after: str | None) -> float | None:
    # stamina reads zero as "no": wait a moment instead.
    digits = (retry_after or "").strip()
    return max(float(digits), 0.01) if digits.isascii() and digits.isdigit() else None


def _json(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
