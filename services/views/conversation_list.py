"""The caller's conversations with their titles, and what was said in them found by its words."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import structlog
from pydantic import AwareDatetime, BaseModel, Field

from data_models.chat_context import ChatContext, Turn
from data_models.errors import (
    BadFrameError,
    ChartClosedError,
    CorruptDocumentError,
    DocumentTooNewError,
    MessageTooLongError,
    NotFoundError,
)
from data_models.identifiers import PatientId, hashed, storage_folder
from data_models.storage.blob_store import BlobStore, change_blob
from data_models.values import read_if_whole
from services.language.replies.commands import command_in
from services.language.words.folding import fold
from services.language.words.phrases import says
from services.views.conversation_reader import SESSION, ConversationReader, OwnedChat
from services.views.conversation_view import ConversationSummary

FOLDER = "names"
LIMIT_CHARS = 120
MADE_CHARS = 64
_KEPT = 2_000
"""Conversations; of more the ones that were changed longest ago are called by their questions."""


# `names/{hash of user}.json` stands beside the conversations: each user names for themselves.


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


HITS = 30
_SECONDS = 5.0
"""A search ends after so long, and says so."""
_QUERY_CHARS = 200
_BEFORE_CHARS, _BEHIND_CHARS = 40, 100
_OLDER_TURNS = 1_000
_NAME_WORDS = 2
_UNREAD = (ChartClosedError, NotFoundError, CorruptDocumentError, DocumentTooNewError)
"""Closed or erased meanwhile, or not readable."""
logger = structlog.get_logger()


class NamedConversation(ConversationSummary):
    """A row of the list.

    Attributes:
        title: The user's own, else made from the first question; "" where there is none yet.
    """

    title: str = ""
    archived: bool = False


class Hit(BaseModel):
    """A turn in which all words stand that were looked for."""

    chat_id: str
    title: str
    patient_id: PatientId | None
    turn_id: int
    timestamp: AwareDatetime
    snippet: str


class Hits(BaseModel):
    """What a search found, the newest conversation first.

    Attributes:
        is_complete: Every conversation was looked through that may be.
    """

    hits: list[Hit]
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationList:
    """Reads of each patient only while the chart is open to the caller, and on the trail."""

    reader: ConversationReader
    names: NameStore

    async def rows(self, *, owner: str, archived: bool = False) -> list[NamedConversation]:
        """Return the owner's conversations, the last used first: those put away, or the others."""
        names = await self.names.read(owner)
        found = await self.reader.list_of(owner=owner)
        wanted = [row for row in found if names.of(row.chat_id).is_archived == archived]
        return list(await asyncio.gather(*(self._name(row, owner, names) for row in wanted)))

    async def change(
        self, chat: OwnedChat, *, title: str | None, archived: bool | None
    ) -> ConversationName:
        """Call a conversation otherwise, or put it away or back.

        Raises:
            NotFoundError: absent, malformed or somebody else's.
            MessageTooLongError: the title is too long.
        """
        await self.reader.access(chat)
        return await self.names.change(chat.owner, chat.chat_id, title=title, is_archived=archived)

    async def search(self, query: str, *, owner: str) -> Hits:
        """Return the turns of the owner's conversations that hold every word of `query`.

        Raises:
            BadFrameError: nothing to look for, or too long.
        """
        wanted = fold(query)[0].split()
        if not wanted or len(query) > _QUERY_CHARS:
            raise BadFrameError(f"q: words to look for, {_QUERY_CHARS} characters at most")
        names = await self.names.read(owner)
        hits: list[Hit] = []
        try:
            async with asyncio.timeout(_SECONDS):
                for row in await self.reader.list_of(owner=owner):
                    hits += await self._hits_in(row, owner, wanted, names)
                    if len(hits) >= HITS:
                        return Hits(hits=hits[:HITS], is_complete=False)
        except TimeoutError:
            return Hits(hits=hits, is_complete=False)
        return Hits(hits=hits, is_complete=True)

    async def _name(
        self, row: ConversationSummary, owner: str, names: UserNames
    ) -> NamedConversation:
        kept = names.of(row.chat_id)
        title = kept.title or await self._make_title(row, owner, kept)
        return NamedConversation(**dict(row), title=title, archived=kept.is_archived)

    async def _make_title(
        self, row: ConversationSummary, owner: str, kept: ConversationName
    ) -> str:
        """Return the title out of the first question; of a closed chart there is none."""
        if kept.made_in == row.epoch and (kept.made_of is None or kept.made_of in row.patient_ids):
            return kept.made
        for patient_id in (*row.patient_ids, None):
            chat = OwnedChat(row.chat_id, owner, patient_id or SESSION)
            document = await self._document(chat, "read_title")
            question = first_question(await self._turns(document)) if document else ""
            if question:
                made = made_title(question)
                await self.names.note(
                    owner, row.chat_id, {"made": made, "made_of": patient_id, "made_in": row.epoch}
                )
                return made
        return ""

    async def _hits_in(
        self, row: ConversationSummary, owner: str, wanted: Sequence[str], names: UserNames
    ) -> list[Hit]:
        found: list[Hit] = []
        kept = names.of(row.chat_id)
        for patient_id in (*row.patient_ids, None):
            chat = OwnedChat(row.chat_id, owner, patient_id or SESSION)
            document = await self._document(chat, "search_history")
            turns = await self._turns(document) if document else []
            found += [
                Hit(
                    chat_id=row.chat_id,
                    title=kept.title,
                    patient_id=patient_id,
                    turn_id=turn.turn_id,
                    timestamp=turn.timestamp,
                    snippet=snippet,
                )
                for turn in turns
                if (snippet := snippet_of(turn, wanted))
            ]
        return sorted(found, key=lambda one: one.timestamp, reverse=True)

    async def _document(self, chat: OwnedChat, action: str) -> ChatContext | None:
        try:
            return await self.reader.document(chat, action)
        except _UNREAD as error:  # the others are shown
            logger.warning("conversation_unread", error=error.code, chat_id=chat.chat_id)
            return None

    async def _turns(self, document: ChatContext) -> list[Turn]:
        history = document.chat_history
        first = history[0].turn_id if history else document.next_turn_id
        older: list[Turn] = []
        try:
            older = await self.reader.contexts.read_archived_turns(
                document, before=first, limit=_OLDER_TURNS
            )
        except _UNREAD as error:  # what is not so old is shown
            logger.warning("turns_unread", error=error.code, chat_id=document.conversation_id)
        return [*older, *history]


def first_question(turns: Sequence[Turn]) -> str:
    """Return the first message that says more than whose chart is meant; "" where none does."""
    return next((turn.user_message for turn in turns if _asks(turn.user_message)), "")


def _asks(text: str) -> bool:
    if "?" in text:
        return True
    is_order = command_in(text) is not None or says(text, "turns_to")
    return not is_order and len(text.split()) > _NAME_WORDS


def snippet_of(turn: Turn, wanted: Sequence[str]) -> str:
    """Return the words around the first one in the text that holds all; "" for none."""
    for text in (turn.user_message, *(answer.text for answer in turn.agent_responses)):
        line = " ".join(text.split())
        folded, origin = fold(line)
        if all(word in folded for word in wanted):
            at = origin[folded.index(wanted[0])]
            start, end = max(0, at - _BEFORE_CHARS), at + _BEHIND_CHARS
            before, behind = "… " if start else "", " …" if end < len(line) else ""
            return f"{before}{line[start:end].strip()}{behind}"
    return ""
