"""botbuilder's adapter behind our own authenticator."""

from http import HTTPStatus

import orjson
from aiohttp import hdrs, web
from botbuilder.core import TurnContext
from botbuilder.integration.aiohttp import CloudAdapter
from botbuilder.schema import Activity, ChannelAccount, ConversationAccount

from bots.authenticator import BotAuthenticator
from bots.bot import RoundsBot
from bots.config import PerBot
from bots.reference import Account, Answer, Inbound, parse_activity
from services.access.limits import body_of


class RoundsAdapter(CloudAdapter):  # type: ignore[misc]  # botbuilder ships no types
    """Takes activities over HTTP.

    The authenticator replaces the SDK's check of tokens, which answers 500 to a malformed one,
    skips checks where a field is missing and downloads keys on the event loop. Nothing is sent
    through the SDK: a turn context here has no connector.
    """

    def __init__(self, *, authenticators: PerBot[BotAuthenticator]) -> None:
        super().__init__()
        self._authenticators = authenticators

    async def process(
        self, request: web.Request, bot: RoundsBot, ws_response: web.WebSocketResponse | None = None
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
        answer: Answer | None = None

        async def on_turn(_: TurnContext) -> None:
            nonlocal answer
            answer = await bot.answer(inbound, agent)

        # Not by the SDK's `process_activity`, whose answer to expectReplies cannot be serialised.
        await self.run_pipeline(TurnContext(self, _activity(inbound)), on_turn)
        if answer is None:
            return web.Response(status=HTTPStatus.ACCEPTED)
        return web.Response(
            status=answer.status,
            body=orjson.dumps(answer.body),
            headers={hdrs.CONTENT_TYPE: "application/json"},
        )


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
