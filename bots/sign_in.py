"""Users sign in by Teams, so that what is theirs elsewhere is reached with their own rights.

The requests of Teams that are no messages are answered here: sign-ins, thumbs, offered files.
"""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

import orjson
import structlog
from pydantic import Field, ValidationError

from bots.incoming import is_group, owner_of, principal_of, required
from bots.reference import TEAMS, Activity, Answer, Inbound, Part, Reference, place_of
from bots.rendering.delivery import Delivery
from bots.rendering.files import FileTransfers
from bots.rendering.rendering import text_activity
from bots.token_service import ChannelUser, SignInResource, TokenService
from data_models.conversations.incoming_message import IncomingMessage
from data_models.errors import AccessError, BadFrameError, SignInNeededError, SignInUnavailableError
from data_models.identifiers import is_web_name
from data_models.values import Newest
from services.access.on_behalf import OnBehalf
from services.access.principal import TOKEN_LIMIT_CHARS
from services.channels.ports import COMMENT_LIMIT_CHARS, ChannelServices
from services.views.conversation_reader import ConversationReader, OwnedChat

_EXCHANGE, _VERIFY = "signin/tokenExchange", "signin/verifyState"
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
        if activity.name == _EXCHANGE:
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


# Under which id a channel's conversation is kept: nobody else's, whoever came first.


async def home_of(activity: Inbound, *, reader: ConversationReader) -> str:
    """Return the id of the conversation of `activity`.

    An id that the web cannot claim, as all of Teams', is kept as it is. Some channels name
    conversations so that a web user could have claimed the name; then the channel's is kept under
    its owner's and its own name together.

    Raises:
        BadFrameError: it names no conversation.
        StoreError: nobody can tell just now whose it is.
    """
    name = required(activity.conversation).id
    if is_web_name(name) and await reader.is_web_conversation(name):
        return f"{owner_of(activity)}:{name}"
    return name


_FEEDBACK = "message/submitAction"
_FILE = "fileConsent/invoke"


class _Opinion(Part):
    """`feedback` is JSON within JSON, as Teams sends it."""

    reaction: Literal["like", "dislike"]
    feedback: str = Field(default="", max_length=8 * COMMENT_LIMIT_CHARS)


class _SubmitAction(Part):
    action_name: Literal["feedback"]
    action_value: _Opinion


@dataclass(frozen=True, slots=True, kw_only=True)
class Invokes:
    """Answers each at once; what is not ours is told from what was done (501)."""

    services: ChannelServices
    files: FileTransfers
    delivery: Delivery
    sign_in: UserSignIn | None

    async def take(self, activity: Inbound, reference: Reference) -> Answer:
        """Do what `activity` asks for; what is left to say goes to `reference`.

        Raises:
            BadFrameError: it is not whole.
            NotFoundError: the conversation is somebody else's.
            RoundsError: it could not be stored, or there were too many.
        """
        if self.sign_in is not None and activity.name in (_EXCHANGE, _VERIFY):
            self.services.rate.take(principal_of(activity))
            return await self.sign_in.answer(activity, reference)
        if activity.name == _FEEDBACK:
            await self._file(activity)
        elif activity.name == _FILE:
            self.services.rate.take(principal_of(activity))
            self.delivery.go_on(self.files.answer(activity, reference, await self._chat(activity)))
        else:
            return Answer({}, HTTPStatus.NOT_IMPLEMENTED)
        return Answer({})

    async def _file(self, activity: Inbound) -> None:
        """Keep an opinion of one of our messages."""
        try:
            said = _SubmitAction.model_validate(activity.value).action_value
        except ValidationError:
            return
        principal = principal_of(activity)
        self.services.rate.take(principal)
        chat = await self._chat(activity)
        await self.services.reader.access(chat)
        try:
            found = orjson.loads(said.feedback) if said.feedback else {}
        except orjson.JSONDecodeError:
            raise BadFrameError("feedback that is not JSON") from None
        text = found.get("feedbackText") if isinstance(found, dict) else None
        await self.services.feedback.file(
            chat.chat_id,
            principal_id=principal,
            channel_message_id=required(activity.reply_to_id),
            reaction=said.reaction,
            comment=text if isinstance(text, str) else "",
        )

    async def _chat(self, activity: Inbound) -> OwnedChat:
        home = await home_of(activity, reader=self.services.reader)
        return OwnedChat(home, owner_of(activity))
