"""Users sign in by Teams, so that what is theirs elsewhere is reached with their own rights."""

import asyncio
from http import HTTPStatus
from typing import Any

import structlog
from pydantic import Field, ValidationError

from bots.inbound import Answer, Inbound, Part
from bots.incoming import is_group, principal_of, required
from bots.reference import TEAMS, Activity, Reference, place_of
from bots.rendering.delivery import Delivery
from bots.rendering.rendering import text_activity
from bots.token_service import ChannelUser, SignInResource, TokenService
from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import AccessError, SignInNeededError, SignInUnavailableError
from data_models.newest import Newest
from services.access.on_behalf import OnBehalf
from services.access.principal import TOKEN_LIMIT_CHARS

EXCHANGE, VERIFY = "signin/tokenExchange", "signin/verifyState"
CARD = "application/vnd.microsoft.card.oauth"
REMEMBERED = 10_000
_ASK = "Sign in, so that I can read with your own rights what you asked for."
_AGREE = "Sign in once more and agree that I read with your own rights what you asked for."
_DONE = "You are signed in. If I could not read something before, please ask for it again."
_UNKNOWN: dict[str, Any] = {"failureDetail": "nothing was signed in"}

logger = structlog.get_logger()


class _Exchange(Part):
    id: str = Field(min_length=1, max_length=200)
    connection_name: str = Field(max_length=200)
    token: str = Field(min_length=1, max_length=TOKEN_LIMIT_CHARS, repr=False)


class _State(Part):
    state: str = Field(min_length=1, max_length=200, repr=False)


class UserSignIn:
    """Asks users to sign in, in their chat with the bot alone, and takes what Teams answers."""

    def __init__(self, *, on_behalf: OnBehalf, service: TokenService, delivery: Delivery) -> None:
        self._on_behalf = on_behalf
        self._service = service
        self._delivery = delivery
        self._users = Newest[str, ChannelUser](limit=REMEMBERED)
        self._taken = Newest[tuple[str, str], asyncio.Task[Answer]](limit=REMEMBERED)
        on_behalf.on_missing(self._proof_of)
        delivery.on_delivered(self._after)

    def met(self, message: IncomingMessage) -> None:
        """Remember how the channel names who wrote: the token service knows users by that."""
        user = place_of(message).get("user")
        if message.channel_id == TEAMS and user is not None:
            who = ChannelUser(id=user["id"], channel_id=message.channel_id)
            self._users[message.sender.principal_id] = who

    async def answer(self, activity: Inbound, reference: Reference) -> Answer:
        """Take a sign-in; 412 has Teams show the card's button, on which the user may agree.

        Raises:
            BadFrameError: the activity names nobody.
        """
        if activity.channel_id != TEAMS or is_group(activity):
            return Answer(_UNKNOWN, HTTPStatus.BAD_REQUEST)
        if activity.name == EXCHANGE:
            return await self._exchange(activity, reference)
        return await self._verify(activity, reference)

    async def _exchange(self, activity: Inbound, reference: Reference) -> Answer:
        """Take the token that Teams got in silence; each of the user's apps may send its own."""
        try:
            sent = _Exchange.model_validate(activity.value)
        except ValidationError:
            return Answer(_UNKNOWN, HTTPStatus.BAD_REQUEST)
        if sent.connection_name != self._service.config.connection:
            return Answer(_UNKNOWN, HTTPStatus.BAD_REQUEST)
        key = (principal_of(activity), sent.id)
        if key not in self._taken:
            names = {"id": sent.id, "connectionName": sent.connection_name}
            work = self._take(sent.token, key[0], reference, names)
            self._taken[key] = asyncio.create_task(work)
        answer = await asyncio.shield(self._taken[key])
        if answer.status == HTTPStatus.SERVICE_UNAVAILABLE:
            self._taken.pop(key, None)
        return answer

    async def _verify(self, activity: Inbound, reference: Reference) -> Answer:
        """Take the code of a sign-in by the card's button."""
        try:
            code = _State.model_validate(activity.value).state
        except ValidationError:
            return Answer(_UNKNOWN, HTTPStatus.BAD_REQUEST)
        user = ChannelUser(id=required(activity.from_).id, channel_id=TEAMS)
        try:
            proof = await self._service.token_of(user, code=code)
        except SignInUnavailableError as error:
            return self._refuse(error, reference, {})
        if proof is None:
            return Answer(_UNKNOWN, HTTPStatus.NOT_FOUND)
        return await self._take(proof, principal_of(activity), reference, {})

    async def _take(
        self, proof: str, principal_id: str, reference: Reference, names: dict[str, str]
    ) -> Answer:
        try:
            await self._on_behalf.take(proof, principal_id=principal_id)
        except SignInNeededError:
            why = {**names, "failureDetail": "the user has to agree"}
            return Answer(why, HTTPStatus.PRECONDITION_FAILED)
        except AccessError as error:
            return self._refuse(error, reference, names)
        self._delivery.tell(reference, _DONE)
        return Answer(names)

    def _refuse(self, error: AccessError, reference: Reference, names: dict[str, str]) -> Answer:
        logger.warning("bot_sign_in_refused", code=error.code)
        self._delivery.tell(reference, error.user_message)
        return Answer({**names, "failureDetail": error.code}, error.http_status)

    async def _after(self, message: IncomingMessage) -> None:
        """Ask who has to sign in for what the answer above could not read."""
        reference = place_of(message)
        is_ours = message.channel_id == TEAMS and reference.get("agent") is None
        if message.is_group or not is_ours:
            return
        if (wanted := self._on_behalf.wanted(message.sender.principal_id)) is None:
            return
        try:
            found = await self._service.sign_in_resource(reference)
        except SignInUnavailableError as error:
            logger.warning("bot_sign_in_not_offered", code=error.code)
            self._delivery.tell(reference, error.user_message)
            return
        self._delivery.send(reference, self._card(found, wanted))

    def _card(self, found: SignInResource, wanted: SignInNeededError) -> Activity:
        asked = _AGREE if wanted.needs_consent else _ASK
        content: Activity = {
            "text": asked,
            "connectionName": self._service.config.connection,
            "buttons": [{"type": "signin", "title": "Sign in", "value": found.sign_in_link}],
        }
        if not wanted.needs_consent:  # what was exchanged in silence is what did not do
            content["tokenExchangeResource"] = found.token_exchange_resource
        return {**text_activity(""), "attachments": [{"contentType": CARD, "content": content}]}

    async def _proof_of(self, principal_id: str) -> str | None:
        user = self._users.get(principal_id)
        return None if user is None else await self._service.token_of(user)
