"""Messages of Slack's Events API as turns, and their answers by `chat.postMessage`."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web

from data_models.conversations import turn_events
from data_models.conversations.incoming_message import IncomingMessage, Sender
from data_models.errors import ForbiddenError
from services.channels.ports import ChannelServices
from services.runs.hub import Run
from settings import Settings

REPLAY_SECONDS = 300


@dataclass(frozen=True, slots=True)
class SlackApp:
    """Of an app that is registered with Slack.

    Attributes:
        api: Where Slack's Web API is.
    """

    api: str
    token: str
    signing_secret: str

    def add(self, app: web.Application, _: Settings, services: ChannelServices) -> None:
        """Serve `POST /slack/events`; an `AddChannel`."""
        channel = _SlackChannel(self, services)
        services.scheduler.on_orphan("slack", channel.deliver)
        app.router.add_post("/slack/events", channel.take)


class _SlackChannel:
    def __init__(self, slack: SlackApp, services: ChannelServices) -> None:
        self._slack = slack
        self._services = services

    async def take(self, request: web.Request) -> web.Response:
        """Take an event; Slack repeats it unless it is answered within three seconds."""
        body = await request.text()
        self._verify(request, body)
        sent: dict[str, Any] = await request.json()
        if sent["type"] == "url_verification":
            return web.json_response({"challenge": sent["challenge"]})
        message = self._message(sent)
        run = await self._services.scheduler.submit(message)
        if not run.replayed:
            await self.deliver(run)
        return web.Response()

    async def deliver(self, run: Run) -> None:
        """Send each message of the turn once it is complete, with whom it is about."""
        footer = ""
        async for _, event in run.events():
            match event:
                case turn_events.StateChanged():
                    footer = self._services.footer(event.state)
                case turn_events.AgentMessageFinished():
                    said = event.message
                    await self._post(run, f"*{said.agent}*\n{said.text}\n{footer}")
                case turn_events.Notice() | turn_events.RunFailed():
                    await self._post(run, event.text)
                case _:
                    pass  # what only live views show

    async def _post(self, run: Run, text: str) -> None:
        place = run.message.delivery or {}
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{self._slack.api}/chat.postMessage",
                json={"channel": place["channel"], "text": text},
                headers={"Authorization": f"Bearer {self._slack.token}"},
            ) as reply,
        ):
            reply.raise_for_status()

    def _verify(self, request: web.Request, body: str) -> None:
        stamp = request.headers.get("X-Slack-Request-Timestamp", "0")
        base = f"v0:{stamp}:{body}".encode()
        secret = self._slack.signing_secret.encode()
        own = "v0=" + hmac.new(secret, base, hashlib.sha256).hexdigest()
        age = abs(self._services.clock.now().timestamp() - int(stamp))
        if age > REPLAY_SECONDS or not hmac.compare_digest(
            own, request.headers.get("X-Slack-Signature", "")
        ):
            raise ForbiddenError

    def _message(self, sent: dict[str, Any]) -> IncomingMessage:
        event, team = sent["event"], sent["team_id"]
        sender = f"slack:{team}:{event['user']}"
        return IncomingMessage(
            conversation_id=f"slack-{team}-{event['channel']}",
            channel="slack",
            channel_id="slack",
            owner=sender if event["channel_type"] == "im" else f"slack:{team}:{event['channel']}",
            sender=Sender(principal_id=sender),
            message_id=sent["event_id"],
            text=event["text"],
            received_at=self._services.clock.now(),
            is_group=event["channel_type"] != "im",
            delivery={"channel": event["channel"]},
        )
