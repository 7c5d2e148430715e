"""How a user calls their conversations, and which of them they put away.

`names/{hash of user}.json` stands beside the conversations: each user names for themselves.
"""

from collections.abc import Collection
from dataclasses import dataclass

from pydantic import BaseModel, Field

from data_models.errors import MessageTooLongError
from data_models.identifiers import PatientId, hashed, storage_folder
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.values import read_if_whole

FOLDER = "names"
LIMIT_CHARS = 120
MADE_CHARS = 64
_KEPT = 2_000
"""Conversations; of more the ones that were changed longest ago are called by their questions."""


class ConversationName(BaseModel):
    """What is kept of one conversation for one user.

    Attributes:
        title: As its user called it; "": as it is made.
        made: Out of its first question.
        made_of: Whose history that question is in; None: nobody's.
        made_in: Epoch of the conversation: a clear takes the question away.
    """

    title: str = ""
    is_archived: bool = False
    made: str = ""
    made_of: PatientId | None = None
    made_in: int | None = None


class UserNames(BaseModel):
    """Of all conversations of one user, by their folders."""

    conversations: dict[str, ConversationName] = Field(default_factory=dict)

    def of(self, conversation_id: str) -> ConversationName:
        """Return what is kept of a conversation; as it is made where nothing is."""
        return self.conversations.get(storage_folder(conversation_id), ConversationName())

    def put(self, conversation_id: str, name: ConversationName) -> None:
        """Keep `name`, as the newest."""
        folder = storage_folder(conversation_id)
        self.conversations.pop(folder, None)
        self.conversations[folder] = name
        for oldest in list(self.conversations)[:-_KEPT]:
            del self.conversations[oldest]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameStore:
    """One document for each user. Who may read or change it is for its callers to ask."""

    store: BlobStore

    async def read(self, owner: str) -> UserNames:
        """Return what is kept; what cannot be read any more is as good as none."""
        blob = await self.store.read(_name(owner))
        return _parsed(None if blob is None else blob.data)

    async def change(
        self,
        owner: str,
        conversation_id: str,
        *,
        title: str | None = None,
        is_archived: bool | None = None,
    ) -> ConversationName:
        """Change what is not None, and return what is kept now.

        Raises:
            MessageTooLongError: a title of more than `LIMIT_CHARS`.
        """
        said = None if title is None else " ".join(title.split())
        if said is not None and len(said) > LIMIT_CHARS:
            raise MessageTooLongError(limit_chars=LIMIT_CHARS)
        changes: dict[str, object] = {} if said is None else {"title": said}
        changes |= {} if is_archived is None else {"is_archived": is_archived}
        return await self.note(owner, conversation_id, changes)

    async def note(
        self, owner: str, conversation_id: str, changes: dict[str, object]
    ) -> ConversationName:
        """Keep changed fields of a conversation."""

        def changed(data: bytes | None) -> bytes:
            names = _parsed(data)
            names.put(conversation_id, names.of(conversation_id).model_copy(update=changes))
            return names.model_dump_json().encode()

        what = "the list of a user's conversations"
        kept = await change_blob(self.store, _name(owner), changed, what=what)
        return _parsed(kept).of(conversation_id)


def without_conversations(data: bytes, folders: Collection[str]) -> bytes | None:
    """Return a user's names without those of `folders`; None if it has none of them."""
    names = _parsed(data)
    rest = {one: name for one, name in names.conversations.items() if one not in folders}
    if rest == names.conversations:
        return None
    return UserNames(conversations=rest).model_dump_json().encode()


async def forget_conversations(
    store: BlobStore, name: str, folders: Collection[str], *, dry_run: bool
) -> bool:
    """Take `folders` out of the names of one user, a blob; return whether it had any of them."""
    if dry_run:
        blob = await store.read(name)
        return blob is not None and without_conversations(blob.data, folders) is not None

    def left(data: bytes | None) -> bytes | None:
        return None if data is None else without_conversations(data, folders)

    what = "the list of a user's conversations"
    return await change_blob(store, name, left, what=what) is not None


def made_title(question: str) -> str:
    """Return a question as a title: one line, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= MADE_CHARS:
        return line
    return f"{line[:MADE_CHARS].rpartition(' ')[0] or line[:MADE_CHARS]} …"


def _name(owner: str) -> str:
    return f"{FOLDER}/{hashed(owner)}.json"


def _parsed(data: bytes | None) -> UserNames:
    return read_if_whole(data, UserNames) or UserNames()
