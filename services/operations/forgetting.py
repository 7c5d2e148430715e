"""Deletes what is stored of one patient in every conversation, archives included.

Replies about the patient that a channel has not had are not delivered any more. The audit trail
stays: it says who read what, and holds no content. Talk that names the patient but belongs to
nobody or to another patient, and a clinic's own records, are reported, for a person to judge.
"""

import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from data_models.conversations.claim import Claim
from data_models.conversations.conversation import AnsweredMessage, Conversation
from data_models.errors import BlobChangedError, CorruptDocumentError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.storage.blob_store import BlobStore
from data_models.values import read_object
from services.chart_access.break_glass import FOLDER as EMERGENCIES
from services.chart_access.break_glass import without_reason
from services.conversations.maintenance_lease import MaintenanceLease, conversation_of
from services.evidence.looks import FOLDER as LOOKED
from services.operations.mentions import forget_what_waits, is_waited_for, names
from services.rounds.round_list import FOLDER as ROUNDS
from services.rounds.round_list import without_patient
from services.tool_memory.personal import is_personal_part_of
from services.views.conversation_list import FOLDER as NAMES
from services.views.conversation_list import without_conversations
from services.views.owner_changes import DRAFTS_FOLDER
from services.views.worklist import FOLDER as WORKLIST

PRINCIPAL = "operator"
# Of the container beside the conversations: what names no patient, and what waits for a channel.
_OWNER_INDEX, _OWED = "users", "owed/"
# Of these a patient's own blobs are called by the patient's id, below each user's folder.
_BY_PATIENT = tuple(f"{one}/" for one in (DRAFTS_FOLDER, LOOKED, WORKLIST))


@dataclass(slots=True)
class ForgetReport:
    """What was deleted, or would be.

    Attributes:
        conversations: Folders that held something of the patient.
        deleted: Blobs.
        rewritten: Documents that list several patients, and lost this one.
        mentions: Blobs left there and beside the conversations whose text still has the id.
        unreadable: Documents that need a person; nothing of them was changed.
    """

    looked_at: int = 0
    conversations: list[str] = field(default_factory=list)
    deleted: int = 0
    rewritten: int = 0
    mentions: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Works on the containers of the conversations and of what is kept beside them.

    Each conversation is held while it is worked on. Repeating it after an interruption finishes it.
    """

    sessions: BlobStore
    users: BlobStore
    maintenance_lease: MaintenanceLease

    async def run(self, patient_id: PatientId, *, dry_run: bool) -> ForgetReport:
        """Visit every conversation.

        Raises:
            StoreError: the container cannot be used; what was deleted stays deleted.
            ConversationBusyError: a conversation never rests; run it again.
        """
        report = ForgetReport()
        seen: set[str] = set()
        talks = _InTalks(
            store=self.sessions,
            patient_id=patient_id,
            report=report,
            dry_run=dry_run,
            lease=self.maintenance_lease,
        )
        # Looked for again: a conversation may have been branched off one that was not visited yet.
        while new := [one async for one in self.sessions.folders() if one not in seen]:
            seen.update(new)
            for folder in new:
                await talks.visit(ConversationLayout(folder))
        beside = _Beside(store=self.users, patient_id=patient_id, report=report, dry_run=dry_run)
        await beside.visit()
        return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _InTalks:
    """One patient in the conversations."""

    store: BlobStore
    patient_id: PatientId
    report: ForgetReport
    dry_run: bool
    lease: MaintenanceLease

    async def visit(self, layout: ConversationLayout) -> None:
        self.report.looked_at += 1
        if await self._holds(layout):
            self.report.conversations.append(layout.folder)
            await self._one(layout)
        # A chart that was never opened here may have been offered, with name and birth date.
        goes = [*await self._own(layout), layout.conversation] if self.dry_run else []
        goes += [name async for name in self._list_shared(layout)] if self.dry_run else []
        async for row in self.store.list(layout.prefix):
            if row.name not in goes and await _names(self.store, row.name, self.patient_id):
                self.report.mentions.append(row.name)

    async def _holds(self, layout: ConversationLayout) -> bool:
        if await self._own(layout):
            return True
        conversation = await self.store.read(layout.conversation)
        if conversation is not None and is_waited_for(conversation.data, self.patient_id):
            return True
        shared = [name async for name in self._list_shared(layout)]
        return any([await _names(self.store, name, self.patient_id) for name in shared])

    async def _one(self, layout: ConversationLayout) -> None:
        if self.dry_run:
            await self._cut_out(layout, claim=None)
            return
        try:
            conversation_id = await conversation_of(self.store, layout.folder)
        except CorruptDocumentError:
            self.report.unreadable.append(layout.conversation)
            return
        if conversation_id is None:  # the reference implementation's: nobody claims it
            await self._cut_out(layout, claim=None)
        else:
            async with self.lease.holding(conversation_id, principal_id=PRINCIPAL) as claim:
                await self._cut_out(layout, claim=claim)
                await claim.update(partial(_remove, patient_id=self.patient_id))

    async def _cut_out(self, layout: ConversationLayout, *, claim: Claim | None) -> None:
        own = await self._own(layout)
        # What is left of runs that were watched: copies of turns, of whichever patient.
        journals = [row.name async for row in self.store.list(layout.watched_prefix)]
        for name in [*own, *journals]:
            if claim is not None:
                await claim.hold()
            if not self.dry_run:
                await self.store.delete(name)
            self.report.deleted += 1
        cut = _Cut(layout, self.patient_id, gone=frozenset(own))
        # Manifests last: they carry the hashes of what is rewritten before.
        names = [name async for name in self._list_shared(layout)]
        for name in sorted(names, key=lambda name: name.endswith("/manifest.json")):
            if claim is not None:
                await claim.hold()
            try:
                self.report.rewritten += await self._rewritten(name, cut)
            except CorruptDocumentError:
                self.report.unreadable.append(name)

    async def _rewritten(self, name: str, cut: "_Cut") -> bool:
        blob = await self.store.read(name)
        rest = None if blob is None else cut.rest_of(name, blob.data)
        if blob is None or rest is None:
            return False
        if not self.dry_run:
            await self.store.replace(name, rest, etag=blob.etag)
        return True

    async def _own(self, layout: ConversationLayout) -> list[str]:
        rows = [row.name async for row in self.store.list(layout.prefix)]
        own = [name for name in rows if layout.belongs_to(self.patient_id, name)]
        others = [one for one in rows if layout.is_comparison(one) or layout.is_feedback(one)]
        return own + [one for one in others if await _names(self.store, one, self.patient_id)]

    async def _list_shared(self, layout: ConversationLayout) -> AsyncIterator[str]:
        """Yield the documents that list several patients."""
        async for row in self.store.list(layout.prefix):
            if layout.lists_patients(row.name):
                yield row.name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """One patient in what is kept beside the conversations."""

    store: BlobStore
    patient_id: PatientId
    report: ForgetReport
    dry_run: bool

    async def visit(self) -> None:
        async for folder in self.store.folders():
            if folder == _OWNER_INDEX:
                continue
            async for row in self.store.list(f"{folder}/"):
                await self._one(row.name)

    async def _one(self, name: str) -> None:
        while (blob := await self.store.read(name)) is not None:
            if (rest := self._rest_of(name, blob.data)) is None:
                return
            try:
                if not self.dry_run and rest:
                    await self.store.replace(name, rest, etag=blob.etag)
                elif not self.dry_run:
                    await self.store.delete(name)
            except BlobChangedError:
                continue  # a server writes it just now
            self.report.rewritten += bool(rest)
            self.report.deleted += not rest
            return

    def _rest_of(self, name: str, data: bytes) -> bytes | None:
        """Return what is left of a blob; `b""`: it is the patient's whole, None: it stays."""
        if name.startswith(f"{ROUNDS}/"):
            return without_patient(name, data, self.patient_id)
        if name.startswith(f"{EMERGENCIES}/"):
            # Why a chart was opened goes; who, when and the review stay.
            return without_reason(data, self.patient_id)
        if name.startswith(f"{NAMES}/"):
            return without_conversations(data, self.report.conversations)
        is_named = names(data, self.patient_id)
        # A reply that waits for its channel goes; whatever else names the patient is told.
        if self._is_own(name) or (is_named and (name.startswith(_OWED) or f"/{_OWED}" in name)):
            return b""
        self.report.mentions += [name] if is_named else []
        return None

    def _is_own(self, name: str) -> bool:
        is_by_patient = name.startswith(_BY_PATIENT) and name.endswith(f"/{self.patient_id}.json")
        return is_by_patient or is_personal_part_of(name, self.patient_id)


async def _names(store: BlobStore, name: str, patient_id: PatientId) -> bool:
    blob = await store.read(name)
    return blob is not None and names(blob.data, patient_id)


def _remove(draft: Conversation, *, patient_id: PatientId) -> None:
    """Leave of the conversation document's references only that the messages were answered."""
    forget_what_waits(draft, patient_id)
    draft.last_clear = None  # who is erased does not come back by an undo
    if draft.running_turn is not None and draft.running_turn.patient_id == patient_id:
        draft.running_turn.patient_id = None
    draft.answered = [
        row._replace(patient_id=None, turn_id=None) if row.patient_id == patient_id else row
        for row in draft.answered
    ]


@dataclass(slots=True)
class _Cut:
    """Takes the patient out of registries, pages of answered messages and manifests.

    Attributes:
        gone: Names of what was deleted.
        changed: Size and hash of what was rewritten, by blob name.
    """

    layout: ConversationLayout
    patient_id: PatientId
    gone: frozenset[str]
    changed: dict[str, tuple[int, str]] = field(default_factory=dict)

    def rest_of(self, name: str, data: bytes) -> bytes | None:
        """Return the document without the patient; None if it has nothing of the patient.

        Raises:
            CorruptDocumentError: it cannot be read.
        """
        if (document := read_object(data)) is None:
            raise CorruptDocumentError("a document is no JSON object")
        before = json.dumps(document)
        self._registry(document)
        self._manifest(document, folder=name.rpartition("/")[0])
        if isinstance(document.get("messages"), list):
            document["messages"] = [self._answered(row) for row in document["messages"]]
        if json.dumps(document) == before:
            return None
        rest = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        self.changed[name] = (len(rest), hashlib.sha256(rest).hexdigest())
        return rest

    def _registry(self, document: dict[str, Any]) -> None:
        if isinstance(document.get("patient_registry"), dict):
            document["patient_registry"].pop(self.patient_id, None)
        # What words meant this patient, and who last wrote beside the chart.
        for kept in ("settled", "seen_by"):
            if isinstance(rows := document.get(kept), dict):
                document[kept] = {key: of for key, of in rows.items() if of != self.patient_id}
        if self.patient_id in (document.get("compared") or ()):
            document["compared"] = []
        if document.get("active_patient_id") == self.patient_id:
            document["active_patient_id"] = None

    def _manifest(self, document: dict[str, Any], *, folder: str) -> None:
        if not isinstance(document.get("documents"), list):
            return
        archived_at = str(document.get("archived_at", ""))
        document["documents"] = [
            row
            for row in document["documents"]
            if not self.layout.belongs_to(self.patient_id, row["original"])
            and self.layout.archived(row["original"], archived_at) not in self.gone
        ]
        for row in document["documents"]:
            if (new := self.changed.get(f"{folder}/{row['name']}")) is not None:
                row["size_bytes"], row["sha256"] = new

    def _answered(self, row: list[Any]) -> list[Any]:
        answered = AnsweredMessage(*row)
        if answered.patient_id != self.patient_id:
            return row
        return list(answered._replace(patient_id=None, turn_id=None))
