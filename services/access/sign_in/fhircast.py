"""FHIRcast (STU3): a hub of a record system tells which patient its user has open."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import aiohttp
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from yarl import URL

from data_models.errors import HubRefusedError, HubUnavailableError
from data_models.http_answers import Bounds, HttpAnswer, ask
from data_models.values import read_if_whole, read_object

EVENTS = "Patient-open,syncerror"
LEASE_SECONDS = 3_600
RENEW_BEFORE_SECONDS = 60.0
_CONFIRM_SECONDS = 10.0
_LIMIT_BYTES = 1_000_000
_BOUNDS = Bounds(8.0, _LIMIT_BYTES, connect_seconds=2.0)

Status: TypeAlias = Literal[200, 400, 403, 409]
"""What an event is answered with: it is followed; it cannot be read; of none of our sessions; it
is not followed, of which the hub tells the others."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One user's session at a hub.

    Attributes:
        token: The record system's; with it the user's rights end.
    """

    hub: str
    topic: str
    token: str = field(repr=False)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class _Endpoint(_Part):
    endpoint: str = Field(alias="hub.channel.endpoint")


class _Confirmation(_Part):
    mode: Literal["subscribe", "denied"] = Field(alias="hub.mode")
    topic: str = Field(alias="hub.topic")
    lease_seconds: float = Field(alias="hub.lease_seconds", default=LEASE_SECONDS, gt=0)


class _Context(_Part):
    key: str
    resource: dict[str, Any] = {}


class _Event(_Part):
    topic: str = Field(alias="hub.topic")
    name: str = Field(alias="hub.event")
    context: list[_Context] = []


class _Notification(_Part):
    id: str = Field(min_length=1, max_length=200)
    event: _Event


class _Current(_Part):
    context: list[_Context] = []


@dataclass(frozen=True, slots=True)
class HubEvent:
    """What happened there.

    Attributes:
        patient: The Patient resource, as the record system names it.
    """

    id: str
    name: str
    patient: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubConnection:
    """A confirmed subscription, until its lease ends or the line breaks."""

    line: aiohttp.ClientWebSocketResponse
    topic: str
    seconds: float

    async def events(self) -> AsyncIterator[HubEvent]:
        """Yield what happens, until the lease is about to end.

        Raises:
            HubUnavailableError: the line broke.
            HubRefusedError: the hub ended the subscription.
        """
        ends_at = _now() + max(self.seconds - RENEW_BEFORE_SECONDS, self.seconds / 2)
        while (left := ends_at - _now()) > 0:
            if (data := await _next(self.line, seconds=left)) is None:
                return
            if (event := await self._event(data)) is not None:
                yield event

    async def answer(self, event_id: str, status: Status) -> None:
        """Tell the hub what became of an event.

        Raises:
            HubUnavailableError: the line broke.
        """
        try:
            await self.line.send_json({"id": event_id, "status": status})
        except (aiohttp.ClientError, ConnectionError):
            raise HubUnavailableError("the hub's line broke") from None

    async def _event(self, data: str) -> HubEvent | None:
        if _confirmation(data) is not None:  # of a renewal, or the end of it all
            return None
        if (found := read_if_whole(data, _Notification)) is None:
            event_id = (read_object(data) or {}).get("id")
            if isinstance(event_id, str):
                await self.answer(event_id, 400)
            return None
        if found.event.topic != self.topic:
            await self.answer(found.id, 403)
            return None
        return HubEvent(found.id, found.event.name.lower(), _patient_in(found.event.context))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """Subscribes to sessions; the caller owns `session`, which calls hosts that are allowed."""

    session: aiohttp.ClientSession

    @asynccontextmanager
    async def connect(self, subscription: Subscription) -> AsyncIterator[HubConnection]:
        """Yield a subscription that the hub has confirmed.

        Raises:
            HubRefusedError: the hub does not let this user subscribe.
            HubUnavailableError: it does not answer, or not as expected.
        """
        url = await self._subscribe(subscription)
        try:
            async with self.session.ws_connect(
                url, heartbeat=30.0, max_msg_size=_LIMIT_BYTES
            ) as line:
                data = await _next(line, seconds=_CONFIRM_SECONDS)
                found = None if data is None else _confirmation(data)
                if found is None or found.topic != subscription.topic:
                    raise HubUnavailableError("the hub confirmed nothing")
                lease = max(found.lease_seconds, RENEW_BEFORE_SECONDS)
                yield HubConnection(line=line, topic=subscription.topic, seconds=lease)
        except (aiohttp.ClientError, TimeoutError):
            raise HubUnavailableError("the hub's line broke") from None

    async def current(self, subscription: Subscription) -> Mapping[str, Any] | None:
        """Return the Patient who is open there now; None if none is, or the hub does not tell."""
        url = URL(f"{subscription.hub}/{quote(subscription.topic, safe='')}", encoded=True)
        try:
            answer = await self._ask("GET", url, subscription)
            found = _Current.model_validate_json(answer.body)
        except (aiohttp.ClientError, TimeoutError, ValidationError):
            return None
        return _patient_in(found.context) if answer.status == 200 else None

    async def _subscribe(self, subscription: Subscription) -> URL:
        form = {
            "hub.channel.type": "websocket",
            "hub.mode": "subscribe",
            "hub.topic": subscription.topic,
            "hub.events": EVENTS,
            "hub.lease_seconds": str(LEASE_SECONDS),
            "subscriber.name": "Rounds",
        }
        try:
            status, _, body = await self._ask("POST", subscription.hub, subscription, data=form)
        except (aiohttp.ClientError, TimeoutError):
            # Not `from error`: it may hold the request, and so the token.
            raise HubUnavailableError("the hub did not answer") from None
        if status in (400, 401, 403, 404):
            raise HubRefusedError(f"the hub answered {status}")
        try:
            url = URL(_Endpoint.model_validate_json(body).endpoint)
        except (ValidationError, ValueError):
            raise HubUnavailableError(f"the hub answered {status} without a line") from None
        is_safe = url.scheme == "wss" or URL(subscription.hub).scheme == "http"
        if not is_safe or url.scheme not in ("ws", "wss"):
            raise HubUnavailableError("the hub's line is not encrypted")
        return url

    async def _ask(
        self, method: str, url: str | URL, subscription: Subscription, **more: Any
    ) -> HttpAnswer:
        signed = {"Authorization": f"Bearer {subscription.token}", "Accept": "application/json"}
        return await ask(self.session, method, url, _BOUNDS, headers=signed, **more)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _confirmation(data: str) -> _Confirmation | None:
    found = read_if_whole(data, _Confirmation)
    if found is not None and found.mode == "denied":
        raise HubRefusedError("the hub denied the subscription")
    return found


async def _next(line: aiohttp.ClientWebSocketResponse, *, seconds: float) -> str | None:
    """Return the next text, None if none comes in time."""
    try:
        message = await line.receive(timeout=seconds)
    except TimeoutError:
        return None
    if message.type is not aiohttp.WSMsgType.TEXT:
        raise HubUnavailableError("the hub's line broke")
    return str(message.data)


def _patient_in(context: list[_Context]) -> Mapping[str, Any] | None:
    return next((one.resource for one in context if one.key == "patient"), None)
