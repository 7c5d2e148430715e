"""What a user has begun to write about a patient, kept until it is sent, for seven days at most.

`drafts/{hash of user}/{patient}.json` stands beside the conversations, in a folder of its own:
whatever stands below `users/` is a conversation.
"""

from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel

from data_models.errors import MessageTooLongError, NotFoundError
from data_models.identifiers import hashed
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.values import read_if_whole
from services.views.conversation_reader import ConversationReader, OwnedChat

FOLDER = "drafts"
KEPT_DAYS = 7
LIMIT_CHARS = 16_000
"""As long as a message."""


class Draft(BaseModel):
    """Text that was not sent; "": there is none."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """Each user reads their own alone, and only while the patient's chart is open to them.

    Every method raises `NotFoundError` for a conversation that is absent or not the caller's and
    for a patient who is not in it, and `ChartClosedError` where the chart is closed to the caller.
    """

    reader: ConversationReader
    store: BlobStore

    async def read(self, chat: OwnedChat) -> Draft:
        """Return the draft about a patient; what is older than seven days is gone."""
        name = await self._name(chat)
        oldest, found = self.reader.clock.now() - timedelta(days=KEPT_DAYS), Draft(text="")
        async for row in self.store.list(_prefix(chat.owner)):
            if row.modified_at < oldest:
                await self.store.delete(row.name)
            elif row.name == name and (blob := await self.store.read(name)) is not None:
                # One that cannot be read is as good as none: nobody can send it.
                found = read_if_whole(blob.data, Draft) or found
        return found

    async def write(self, chat: OwnedChat, text: str) -> None:
        """Keep `text` in the place of the draft before; "" takes that away.

        Raises:
            MessageTooLongError: longer than a message can be.
        """
        name = await self._name(chat)
        if len(text) > LIMIT_CHARS:
            raise MessageTooLongError(limit_chars=LIMIT_CHARS)
        if text.strip():
            data = Draft(text=text).model_dump_json().encode()
            # Another device of the same user: who wrote last wins.
            await change_blob(self.store, name, lambda _: data, what="a draft")
        else:
            await self.store.delete(name)

    async def _name(self, chat: OwnedChat) -> str:
        if (patient := await self.reader.roster_member(chat)) is None:
            raise NotFoundError("a draft is about a patient")
        return f"{_prefix(chat.owner)}{patient}.json"


def _prefix(owner: str) -> str:
    return f"{FOLDER}/{hashed(owner)}/"
