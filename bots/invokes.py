"""Requests of Teams that are no messages: thumbs, files that were offered, sign-ins."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

import orjson
from pydantic import Field, ValidationError

from bots.inbound import Answer, Inbound, Part
from bots.incoming import owner_of, principal_of, required
from bots.reference import Reference
from bots.rendering.delivery import Delivery
from bots.rendering.files import FileTransfers
from bots.sign_in import EXCHANGE, VERIFY, UserSignIn
from data_models.errors import BadFrameError
from data_models.identifiers import is_web_name
from services.channels.feedback import COMMENT_LIMIT_CHARS
from services.channels.ports import ChannelServices
from services.views.conversation_reader import ConversationReader, OwnedChat

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
        if self.sign_in is not None and activity.name in (EXCHANGE, VERIFY):
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
