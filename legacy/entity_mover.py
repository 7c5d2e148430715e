"""Moves the legacy entities of every stored session, and back (spec page 2.4)."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from data_models.clock import Clock
from data_models.entities.entities import Entities
from data_models.errors import CorruptDocumentError
from data_models.identifiers import hashed
from data_models.storage.blob_store import change_blob
from services.entities.circumstances import AgentNames
from services.entities.legacy import (
    LEGACY_FIELD,
    file_legacy,
    legacy_entities,
    legacy_owner,
    legacy_rows,
    union_of,
)
from services.stores import ContextDocuments, Rewritten, json_of

BACKUP_SUFFIX = ".before-entities"


@dataclass(frozen=True, slots=True)
class Differences:
    """What a migrated document holds otherwise than the old one (spec page 2.4)."""

    missing_in_new: list[str]
    extra_in_new: list[str]
    value_changes: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether there are none; what was added since is no loss."""
        return not self.missing_in_new and not self.value_changes


def entities_of(document: Mapping[str, Any]) -> Entities:
    """Return the managers of `document`; empty ones if it has none yet.

    Raises:
        CorruptDocumentError: they cannot be read.
    """
    try:
        return Entities.model_validate(document.get("entities") or {})
    except ValidationError:
        # Not `from error`: pydantic quotes what the document holds.
        raise CorruptDocumentError("the entities cannot be read") from None


def migrated(document: Mapping[str, Any], *, team: AgentNames, now: datetime) -> dict[str, Any]:
    """Return `document` with its legacy entities moved into the managers, every key counted.

    Raises:
        CorruptDocumentError: something is not of the known shape, or a key would be lost.
        UnknownAgentError: the agent that waited is not in the team.
    """
    legacy, entities = legacy_entities(document), entities_of(document)
    file_legacy(entities, legacy, owner=legacy_owner(document), team=team, now=now)
    held = union_of(entities)
    if any(key not in held for key in legacy_rows(legacy)):
        raise CorruptDocumentError("not every legacy entity found a place")
    continuation = {
        key: value for key, value in document[LEGACY_FIELD].items() if key != "entities"
    }
    changed = {**document, "entities": entities.model_dump(mode="json")}
    return {**changed, LEGACY_FIELD: continuation}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Differences:
    """Compare the legacy dict of `old` with both namespaces of `new`."""
    before, after = legacy_rows(legacy_entities(old)), union_of(entities_of(new))
    return Differences(
        missing_in_new=sorted(set(before) - set(after)),
        extra_in_new=sorted(set(after) - set(before)),
        value_changes={
            key: {"old": before[key], "new": after[key]}
            for key in sorted(set(before) & set(after))
            if json.dumps(before[key], sort_keys=True) != json.dumps(after[key], sort_keys=True)
        },
    )


@dataclass(frozen=True, slots=True)
class MoveReport:
    """What became of the sessions; errors name the blob and the kind of fault, never content."""

    total: int
    migrated: int
    skipped: int
    failed: int
    errors: list[dict[str, str]]

    def as_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(asdict(self))


def report_of(done: Rewritten) -> MoveReport:
    """Return what became of the sessions."""
    failed = len(done.failed)
    errors = [
        {"session": hashed(name), "code": error.code, "reason": str(error)}
        for name, error in done.failed.items()
    ]
    skipped = done.looked_at - done.changed - failed
    return MoveReport(done.looked_at, done.changed, skipped, failed, errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """Walks the context documents of one container."""

    documents: ContextDocuments
    team: AgentNames
    clock: Clock

    async def move(self, *, dry_run: bool = False, patient: str | None = None) -> MoveReport:
        """Migrate every document, or those of `patient`; one that fails stops no other."""
        done = await self.documents.rewrite(
            self._moved, before=self._back_up, dry_run=dry_run, patient=patient
        )
        return report_of(done)

    async def roll_back(self, *, dry_run: bool = False, patient: str | None = None) -> MoveReport:
        """Put every backup back, byte for byte, and remove it."""
        done = await self.documents.rewrite(
            self._backup_of, after=self._drop_backup, dry_run=dry_run, patient=patient
        )
        return report_of(done)

    async def validate(self, *, patient: str | None = None) -> dict[str, Any]:
        """Compare every migrated document with its backup; keys and counts by hashed session."""
        found: dict[str, Any] = {"total": 0, "equal": 0, "differences": {}}
        store = self.documents.store
        async for name in self.documents.names(patient):
            backup, blob = await store.read(name + BACKUP_SUFFIX), await store.read(name)
            if backup is None or blob is None:
                continue
            found["total"] += 1
            result = differences(json_of(backup.data), json_of(blob.data))
            if result.is_empty:
                found["equal"] += 1
            else:
                found["differences"][hashed(name)] = asdict(result)
        return found

    async def _moved(self, _: str, data: bytes) -> bytes | None:
        document = json_of(data)
        if not legacy_entities(document):
            return None
        return json.dumps(migrated(document, team=self.team, now=self.clock.now())).encode()

    async def _back_up(self, name: str, data: bytes) -> None:
        """Keep them whatever an earlier run kept."""
        await change_blob(
            self.documents.store,
            name + BACKUP_SUFFIX,
            lambda kept: None if kept == data else data,
            what="a backup",
        )

    async def _backup_of(self, name: str, _: bytes) -> bytes | None:
        backup = await self.documents.store.read(name + BACKUP_SUFFIX)
        return None if backup is None else backup.data

    async def _drop_backup(self, name: str, _: bytes) -> None:
        await self.documents.store.delete(name + BACKUP_SUFFIX)
