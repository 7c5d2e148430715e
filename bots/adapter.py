"""botbuilder's adapter behind a closed authenticator."""

from http import HTTPStatus
from typing import Any, NamedTuple

import orjson
from aiohttp import hdrs, web
from botbuilder.core import Bot, InvokeResponse, TurnContext
from botbuilder.integration.aiohttp import CloudAdapter
from botbuilder.schema import Activity, ChannelAccount, ConversationAccount, ResourceResponse
from botframework.connector.auth import (
    AuthenticateRequestResult,
    BotFrameworkAuthentication,
    ClaimsIdentity,
    ConnectorFactory,
)

from bots.authenticator import BotAuthenticator
from bots.config import PerBot
from bots.connector import Connector
from bots.inbound import Account, Inbound, parse_activity
from bots.reference import reference_of
from services.access.bodies import body_of

INBOUND = "rounds.inbound"
"""Key of the turn state: the activity as it was read."""
AGENT = "rounds.agent"
"""Key of the turn state: the agent whose bot is spoken to; None for the team's."""
ANSWER = "rounds.answer"
"""Key of the turn state: what the request is answered with; absent for a bare 202."""


class Answer(NamedTuple):
    """What the request itself is answered with."""

    body: Any
    status: int = HTTPStatus.OK


class RoundsAdapter(CloudAdapter):  # type: ignore[misc]  # botbuilder ships no types
    """Takes activities over HTTP.

    The authenticator replaces the SDK's check of tokens, which answers 500 to a malformed one,
    skips checks where a field is missing and downloads keys on the event loop.
    """

    def __init__(self, *, authenticators: PerBot[BotAuthenticator], connector: Connector) -> None:
        super().__init__(_NoAuthentication(connector=connector))
        self._authenticators = authenticators
        self._connector = connector

    async def process(
        self, request: web.Request, bot: Bot, ws_response: web.WebSocketResponse | None = None
    ) -> web.Response:
        """Let `bot` take the activity in `request`.

        Raises:
            AccessError: the caller may not.
            BadFrameError: the body is no activity.
            StoreError: the message could not be made durable.
        """
        agent = request.match_info.get("agent")
        authenticator = self._authenticators.at(agent)
        ticket = authenticator.ticket_of(request)
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType
        inbound = parse_activity(await body_of(request))
        await authenticator.admit(ticket, inbound)

        async def logic(context: TurnContext) -> None:
            context.turn_state.update({INBOUND: inbound, AGENT: agent})
            await bot.on_turn(context)

        admitted = _admitted(self._connector)
        answer = await self.process_activity(admitted, _activity(inbound), logic)
        return _response(answer)

    async def send_activities(
        self, context: TurnContext, activities: list[Activity]
    ) -> list[ResourceResponse]:
        """Send `activities`; botbuilder's `context.send_activity` ends here."""
        state = context.turn_state
        reference = reference_of(state[INBOUND], agent=state[AGENT])
        sent = [await self._connector.send(reference, each.serialize()) for each in activities]
        return [ResourceResponse(id=sent_id) for sent_id in sent]

    def _process_turn_results(self, context: TurnContext) -> InvokeResponse | None:
        # The SDK's own cannot be serialised for expectReplies, and is 501 for unknown invokes.
        answer = context.turn_state.get(ANSWER)
        return answer and InvokeResponse(status=answer.status, body=answer.body)


class _NoAuthentication(BotFrameworkAuthentication):  # type: ignore[misc]
    """Stands where the SDK would check tokens: nothing gets past the authenticator."""

    def __init__(self, *, connector: Connector) -> None:
        self._connector = connector

    async def authenticate_request(
        self, activity: Activity, auth_header: str
    ) -> AuthenticateRequestResult:
        raise PermissionError("requests are authenticated at the authenticator")

    async def authenticate_streaming_request(
        self, auth_header: str, channel_id_header: str
    ) -> AuthenticateRequestResult:
        raise PermissionError("streaming connections are not served")

    def create_connector_factory(self, claims_identity: ClaimsIdentity) -> ConnectorFactory:
        return _OneConnector(connector=self._connector)

    async def create_user_token_client(self, claims_identity: ClaimsIdentity) -> None:
        # For OAuth prompts, of which there are none; the SDK's own takes milliseconds to make.
        return None


class _OneConnector(ConnectorFactory):  # type: ignore[misc]
    """Gives the one connector, which serves all channels."""

    def __init__(self, *, connector: Connector) -> None:
        self._connector = connector

    async def create(self, service_url: str, audience: str) -> Connector:
        return self._connector


def _admitted(connector: Connector) -> AuthenticateRequestResult:
    result = AuthenticateRequestResult()
    result.claims_identity = ClaimsIdentity({}, True)
    result.connector_factory = _OneConnector(connector=connector)
    return result


def _activity(inbound: Inbound) -> Activity:
    """Return what the SDK needs to know; the bot reads `INBOUND`."""
    place = inbound.conversation
    return Activity(
        type=inbound.type,
        id=inbound.id,
        channel_id=inbound.channel_id,
        service_url=inbound.service_url,
        conversation=None if place is None else ConversationAccount(id=place.id),
        from_property=_account(inbound.from_),
        recipient=_account(inbound.recipient),
    )


def _account(account: Account | None) -> ChannelAccount | None:
    return None if account is None else ChannelAccount(id=account.id, name=account.name)


def _response(answer: InvokeResponse | None) -> web.Response:
    if answer is None:
        return web.Response(status=HTTPStatus.ACCEPTED)
    return web.Response(
        status=answer.status,
        body=orjson.dumps(answer.body),
        headers={hdrs.CONTENT_TYPE: "application/json"},
    )
