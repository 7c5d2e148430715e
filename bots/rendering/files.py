"""How a file that an agent made gets to the user, as far as the channel allows.

In one-to-one chats Teams asks the user, and the file goes into the user's own drive. The Emulator
and its like take it within the message. A group gets neither: whoever reads along there has not
been asked, and Teams has no way for it.
"""

import base64
from dataclasses import dataclass

import aiohttp
import structlog
from pydantic import Field, ValidationError

from bots.config import ServiceUrls
from bots.connector import Outbox
from bots.incoming import principal_of
from bots.reference import Activity, Inbound, Part, Reference, abilities_of, place_of
from bots.rendering.cards import Card
from bots.rendering.rendering import text_activity
from data_models import errors
from data_models.chat_context import Artifact
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import SharedState
from data_models.http_answers import Bounds, ask
from services.views.conversation_reader import ConversationReader, OwnedChat

INLINE_LIMIT_BYTES = 180_000
"""The Bot Framework takes 256 kB a message, and the file grows by a third in it."""
_UPLOAD = Bounds(60.0, limit_bytes=0)
DRIVE_HOSTS = ("*.sharepoint.com", "*.sharepoint.us", "*.sharepoint.cn")
_CONSENT = "application/vnd.microsoft.teams.card.file.consent"
_INFO = "application/vnd.microsoft.teams.card.file.info"

_GONE = "That file is not here any more. Ask for the report again."
_FAILED = "The file could not be saved. It is kept here; ask for the report again."

logger = structlog.get_logger()


class _Context(Part):
    artifact_id: str = Field(min_length=1, max_length=200)
    patient_id: str = Field(min_length=1, max_length=200)


class _Upload(Part):
    upload_url: str = Field(max_length=8_000)
    content_url: str = Field(max_length=8_000)
    unique_id: str = Field(max_length=200)
    file_type: str = Field(max_length=20)


class _Answer(Part):
    action: str
    context: _Context
    upload_info: _Upload | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTransfers:
    """Offers files and hands them over; the caller owns `session`."""

    reader: ConversationReader
    outbox: Outbox
    session: aiohttp.ClientSession
    drives: ServiceUrls

    async def offer(
        self, asked: IncomingMessage, state: SharedState, artifact: Artifact
    ) -> Activity:
        """Return what tells the user of a new file, made for who asked.

        Raises:
            RoundsError: it cannot be read.
        """
        patient = state.patient_id or ""
        name = f"**{artifact.file_name}**"
        match abilities_of(place_of(asked)).files:
            case "consent":
                return _attached(_consent_card(artifact, patient))
            case "inline" if artifact.size_bytes <= INLINE_LIMIT_BYTES:
                chat = OwnedChat(state.conversation_id, asked.owner, patient)
                who = asked.sender.principal_id
                _, data = await self.reader.artifact(chat, artifact.artifact_id, reader=who)
                return _attached(_inline(artifact, data))
            case _:
                why = "I can hand over files in one-to-one chats only."
                return text_activity(f"{name} is kept with this conversation. {why}")

    async def answer(self, activity: Inbound, reference: Reference, chat: OwnedChat) -> None:
        """Do what the user said to an offer; what became of it is told in the conversation."""
        try:
            reply = await self._reply(activity, chat)
        except ValidationError:
            return
        except errors.NotFoundError:
            reply = text_activity(_GONE)
        except errors.ChartClosedError as error:
            reply = text_activity(error.user_message)
        except errors.RoundsError:
            reply = text_activity(_FAILED)
        try:
            await self.outbox.send(reference, reply)
        except errors.ChannelError as error:
            logger.warning("bot_line_lost", code=error.code)

    async def _reply(self, activity: Inbound, chat: OwnedChat) -> Activity:
        said = _Answer.model_validate(activity.value)
        if said.action != "accept" or said.upload_info is None:
            return text_activity("The file stays with this conversation.")
        artifact, data = await self.reader.artifact(
            chat._replace(patient_id=said.context.patient_id),
            said.context.artifact_id,
            reader=principal_of(activity),
        )
        await self._upload(said.upload_info.upload_url, data)
        return _attached(_info_card(artifact, said.upload_info))

    async def _upload(self, url: str, data: bytes) -> None:
        """Put `data` where the user's drive waits for it.

        Raises:
            ChannelError: the place is not one, or does not take it.
        """
        if not self.drives.allows(url.partition("?")[0]):
            raise errors.ChannelUnavailableError("files may not go to that address")
        headers = {"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"}
        try:
            answer = await ask(self.session, "PUT", url, _UPLOAD, data=data, headers=headers)
        except (aiohttp.ClientError, TimeoutError):
            # `from None`: the address carries the user's permission.
            raise errors.ChannelUnavailableError("the drive did not answer") from None
        if answer.status not in (200, 201):
            raise errors.ChannelUnavailableError(f"the drive answered {answer.status}")


def _attached(card: Card) -> Activity:
    return {"type": "message", "attachments": [card]}


def _consent_card(artifact: Artifact, patient_id: str) -> Card:
    context = {"artifactId": artifact.artifact_id, "patientId": patient_id}
    return {
        "contentType": _CONSENT,
        "name": artifact.file_name,
        "content": {
            "description": "Save it in your own OneDrive?",
            "sizeInBytes": artifact.size_bytes,
            "acceptContext": context,
            "declineContext": context,
        },
    }


def _inline(artifact: Artifact, data: bytes) -> Card:
    encoded = base64.b64encode(data).decode()
    return {
        "contentType": artifact.media_type,
        "name": artifact.file_name,
        "contentUrl": f"data:{artifact.media_type};base64,{encoded}",
    }


def _info_card(artifact: Artifact, upload: _Upload) -> Card:
    return {
        "contentType": _INFO,
        "name": artifact.file_name,
        "contentUrl": upload.content_url,
        "content": {"uniqueId": upload.unique_id, "fileType": upload.file_type},
    }
