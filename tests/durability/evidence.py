"""Reads what is stored as an investigator would: straight from the blobs, by no code of a turn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from data_models.chat_context import ChatContext, Turn
from data_models.chat_context_accessor import ArchivedTurns
from data_models.conversations.conversation import AnsweredBlob, Conversation, QueuedMessage
from data_models.documents import parse_document
from data_models.identifiers import CORRUPT_MARK, storage_folder
from data_models.memory_blocks import ArchivedChanges
from data_models.patient_context_models import Registry
from data_models.tool_memory import TurnRuns
from data_models.turn_runs import RunsOfTurns
from data_models.values import Document

_ELSEWHERE = ("archive/", "watched/")


class ManifestRow(BaseModel):
    name: str
    original: str


class Manifest(BaseModel):
    documents: list[ManifestRow]


@dataclass(frozen=True)
class Found:
    """A turn in one of the places where people can read it."""

    patient_id: str | None
    epoch: int
    is_archived: bool
    turn: Turn


class Evidence:
    """The blobs of one conversation. Everything that exists must parse, or this fails.

    With the evidence of `before`, only what changed since is parsed.
    """

    def __init__(
        self,
        contents: Mapping[str, bytes],
        conversation_id: str,
        *,
        before: "Evidence | None" = None,
    ) -> None:
        self._id = conversation_id
        self._folder = storage_folder(conversation_id)
        prefix = f"{self._folder}/"
        self.blobs = {
            name.removeprefix(prefix): data
            for name, data in contents.items()
            if name.startswith(prefix)
        }
        self.parsed: dict[str, Document] = {}
        for name, data in self.live.items():
            is_same = before is not None and before.blobs.get(name) is data
            known = before.parsed[name] if is_same and before is not None else None
            self.parsed[name] = known or self._parsed(name, data)

    @property
    def live(self) -> dict[str, bytes]:
        """What is not in an archive or a run's journal and no damaged one's copy."""
        return {
            name: data
            for name, data in self.blobs.items()
            if not name.startswith(_ELSEWHERE) and CORRUPT_MARK not in name
        }

    @property
    def conversation(self) -> Conversation:
        document = self.parsed["conversation.json"]
        assert isinstance(document, Conversation)
        return document

    @property
    def registry(self) -> Registry:
        document = self.parsed.get("patient_context_registry.json")
        if document is None or document.epoch < self.conversation.epoch:
            return Registry(conversation_id=self._id)
        assert isinstance(document, Registry)
        return document

    @property
    def queued(self) -> list[QueuedMessage]:
        """The messages that wait, counted in or not."""
        found = [each for each in self.parsed.values() if isinstance(each, QueuedMessage)]
        return [each for each in found if each.number >= self.conversation.inbox_head]

    @property
    def archives(self) -> dict[str, Manifest]:
        """The archives whose copying was completed, by timestamp."""
        return {
            name.split("/")[1]: Manifest.model_validate_json(data)
            for name, data in self.blobs.items()
            if name.startswith("archive/") and name.endswith("/manifest.json")
        }

    def contexts(self) -> Iterator[ChatContext]:
        """The context documents of the conversation's epoch."""
        for document in self.parsed.values():
            if isinstance(document, ChatContext) and document.epoch == self.conversation.epoch:
                yield document

    def turns(self) -> list[Found]:
        """Every turn that somebody can read: live and visible, or in a complete archive."""
        found = [*self._archived_turns(), *self._live_turns()]
        unique = {(each.patient_id, each.epoch, each.turn.run_id): each for each in found}
        return list(unique.values())

    def saying(self, word: str) -> list[Found]:
        """The turns in which the user said `word`."""
        return [each for each in self.turns() if word in each.turn.user_message]

    def _live_turns(self) -> Iterator[Found]:
        epoch = self.conversation.epoch
        for document in self.parsed.values():
            if document.epoch == epoch:
                yield from _turns_of(document, is_archived=False)

    def _archived_turns(self) -> Iterator[Found]:
        for ts, manifest in self.archives.items():
            for row in manifest.documents:
                data = self.blobs[f"archive/{ts}/{self._folder}/{row.name}"]
                inner = row.original.removeprefix(f"{self._folder}/")
                document = self._parsed(inner, data)
                if document.epoch < self.conversation.epoch:  # else the clear did not happen
                    yield from _turns_of(document, is_archived=True)

    def _parsed(self, name: str, data: bytes) -> Document:
        return parse_document(data, _model_of(name), conversation_id=self._id)


def _turns_of(document: Document, *, is_archived: bool) -> Iterator[Found]:
    if isinstance(document, ChatContext):
        turns, patient_id = document.chat_history, document.patient_id
    elif isinstance(document, ArchivedTurns):
        turns, patient_id = document.turns, document.patient_id
    else:
        return
    for turn in turns:
        yield Found(patient_id, document.epoch, is_archived, turn)


def _model_of(name: str) -> type[Document]:
    if name == "conversation.json":
        return Conversation
    if name == "patient_context_registry.json":
        return Registry
    if name.startswith("inbox/"):
        return QueuedMessage
    if name.startswith("answered/"):
        return AnsweredBlob
    if "_changes/" in name:
        return ArchivedChanges
    if "_runs/" in name:
        return RunsOfTurns if "-" in name.rpartition("/")[2] else TurnRuns
    return ArchivedTurns if "_turns/" in name else ChatContext
