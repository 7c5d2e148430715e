"""Moves the legacy entities of every stored session, and back (spec page 2.4).

Each document is rewritten under its conversation's claim. A conversation that has none yet may
get its first turn meanwhile; then our write loses against it, and the document is looked at again.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

import yaml
from pydantic import ValidationError

from data_models.clock import Clock
from data_models.conversations.claim import Claim
from data_models.entities.entities import Entities
from data_models.errors import (
    BlobChangedError,
    BlobExistsError,
    ConfigurationError,
    CorruptDocumentError,
    RoundsError,
    StoreUnavailableError,
)
from data_models.identifiers import hashed
from data_models.storage.blob_store import Blob, BlobStore
from legacy.document_holding import Holding, Unclaimed
from services.entities.circumstances import AgentNames
from services.entities.legacy import (
    LEGACY_FIELD,
    file_legacy,
    legacy_entities,
    legacy_owner,
    legacy_rows,
    union_of,
)

BACKUP_SUFFIX = ".before-entities"
_DOCUMENT_SUFFIX = "_context.json"
_SINGLE_HISTORY = "chat_context.json"
_TRIES = 5
Outcome: TypeAlias = Literal["migrated", "skipped"]


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


def document_of(data: bytes) -> dict[str, Any]:
    """Return the JSON object of a context document.

    Raises:
        CorruptDocumentError: it is none.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise CorruptDocumentError("the context document is no JSON object")
    return document


def team_of_file(path: Path) -> AgentNames:
    """Return the agents of a `team.yaml`, with the names that older deployments gave them.

    Raises:
        ConfigurationError: the file is no team.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        names = [agent["name"] for agent in document["agents"]]
        return AgentNames.of(names, legacy=document.get("legacy_names") or {})
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{path.name} is no team; see docs/agents.md") from error


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


@dataclass(slots=True)
class MoveReport:
    """What became of the sessions; errors name the blob and the kind of fault, never content."""

    total: int = 0
    migrated: int = 0
    skipped: int = 0
    failed: int = 0
    errors: list[dict[str, str]] = field(default_factory=list)

    def count(self, outcome: Outcome) -> None:
        """Count one session that went well."""
        self.total += 1
        if outcome == "migrated":
            self.migrated += 1
        else:
            self.skipped += 1

    def fail(self, name: str, error: RoundsError) -> None:
        """Count one session that did not."""
        self.total += 1
        self.failed += 1
        self.errors.append({"session": hashed(name), "code": error.code, "reason": str(error)})

    def as_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(asdict(self))


class Mover:
    """Walks the context documents of one container."""

    def __init__(
        self,
        *,
        store: BlobStore,
        folders: Sequence[str],
        team: AgentNames,
        clock: Clock,
        holding: Holding,
    ) -> None:
        self._store = store
        self._folders = folders
        self._team = team
        self._clock = clock
        self._holding = holding

    async def move(self, *, dry_run: bool = False, patient: str | None = None) -> MoveReport:
        """Migrate every document, or those of `patient`; one that fails stops no other."""
        report = MoveReport()
        async for name in self._documents(patient):
            try:
                report.count(await self._move(name, dry_run=dry_run))
            except RoundsError as error:
                report.fail(name, error)
        return report

    async def roll_back(self, *, patient: str | None = None) -> MoveReport:
        """Put every backup back, byte for byte, and remove it."""
        report = MoveReport()
        async for name in self._documents(patient):
            try:
                report.count(await self._roll_back(name))
            except RoundsError as error:
                report.fail(name, error)
        return report

    async def validate(self, *, patient: str | None = None) -> dict[str, Any]:
        """Compare every migrated document with its backup; keys and counts by hashed session."""
        found: dict[str, Any] = {"total": 0, "equal": 0, "differences": {}}
        async for name in self._documents(patient):
            backup = await self._store.read(name + BACKUP_SUFFIX)
            blob = await self._store.read(name)
            if backup is None or blob is None:
                continue
            found["total"] += 1
            result = differences(document_of(backup.data), document_of(blob.data))
            if result.is_empty:
                found["equal"] += 1
            else:
                found["differences"][hashed(name)] = asdict(result)
        return found

    async def _documents(self, patient: str | None) -> AsyncIterator[str]:
        wanted = f"/patient_{patient}{_DOCUMENT_SUFFIX}" if patient else _DOCUMENT_SUFFIX
        for folder in self._folders:
            names = [row.name async for row in self._store.list(f"{folder}/")]
            for name in names:
                inner = name.removeprefix(f"{folder}/")
                if f"/{inner}".endswith(wanted) and "/" not in inner and inner != _SINGLE_HISTORY:
                    yield name

    async def _move(self, name: str, *, dry_run: bool) -> Outcome:
        if await self._moved(name) is None:
            return "skipped"
        if dry_run:
            return "migrated"
        async with self._holding.of(name) as held:
            return await self._rewrite(name, held)

    async def _moved(self, name: str) -> tuple[Blob, dict[str, Any]] | None:
        """Return the document as it is and as it should be; None if there is nothing to move."""
        blob = await self._store.read(name)
        document = None if blob is None else document_of(blob.data)
        if blob is None or document is None or not legacy_entities(document):
            return None
        return blob, migrated(document, team=self._team, now=self._clock.now())

    async def _rewrite(self, name: str, held: Claim | Unclaimed) -> Outcome:
        for _ in range(_TRIES):
            await held.hold()
            moved = await self._moved(name)
            if moved is None:
                return "skipped"
            blob, changed = moved
            await self._back_up(name, blob)
            with suppress(BlobChangedError):
                await self._store.replace(name, json.dumps(changed).encode(), etag=blob.etag)
                return "migrated"
        raise StoreUnavailableError("the document kept changing")

    async def _back_up(self, name: str, blob: Blob) -> None:
        """Keep the very bytes that are about to be replaced, whatever an earlier run kept."""
        backup = name + BACKUP_SUFFIX
        try:
            await self._store.create(backup, blob.data)
        except BlobExistsError:
            kept = await self._store.read(backup)
            if kept is not None and kept.data != blob.data:
                await self._store.replace(backup, blob.data, etag=kept.etag)

    async def _roll_back(self, name: str) -> Outcome:
        backup = await self._store.read(name + BACKUP_SUFFIX)
        if backup is None:
            return "skipped"
        async with self._holding.of(name) as held:
            return await self._put_back(name, backup, held)

    async def _put_back(self, name: str, backup: Blob, held: Claim | Unclaimed) -> Outcome:
        for _ in range(_TRIES):
            await held.hold()
            blob = await self._store.read(name)
            with suppress(BlobChangedError, BlobExistsError):
                if blob is None:
                    await self._store.create(name, backup.data)
                else:
                    await self._store.replace(name, backup.data, etag=blob.etag)
                await self._store.delete(name + BACKUP_SUFFIX)
                return "migrated"
        raise StoreUnavailableError("the document kept changing")
