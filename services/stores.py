"""Opens the containers that the settings name, and rewrites stored context documents for commands.

Each is rewritten while its conversation is held. One that no turn has run in yet has no claim, and
may get its first turn meanwhile; then our write loses against it, and it is looked at again.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from data_models import errors
from data_models.clock import IdSource
from data_models.conversations.claim import Claim
from data_models.identifiers import PatientId, storable_patient_id
from data_models.storage.blob_store import BlobStore
from data_models.storage.local_blob_store import LocalBlobStore
from data_models.storage.local_blob_tags import LocalBlobTags
from services.conversations.maintenance_lease import MaintenanceLease, conversation_of
from services.scenarios.migration.session_index import TAGS, session_tags
from settings import Settings

SESSIONS = "chat-sessions"
USERS = "chat-users"
AUDIT = "audit-trail"
SCENARIOS = "scenarios"
INDEX_FILE = "scenario-sessions.sqlite"


@dataclass(frozen=True, slots=True)
class Stores:
    """The three containers: conversations, who owns which, and who read what."""

    sessions: BlobStore
    users: BlobStore
    audit: BlobStore

    async def check(self) -> None:
        """See `BlobStore.check`; of each."""
        for store in (self.sessions, self.users, self.audit):
            await store.check()

    async def close(self) -> None:
        """Release every connection."""
        for store in (self.sessions, self.users, self.audit):
            await store.close()


def open_stores(settings: Settings, *, ids: IdSource) -> Stores:
    """Return all containers; each is created when it is first needed."""
    return Stores(*(open_container(settings, name, ids=ids) for name in (SESSIONS, USERS, AUDIT)))


def open_container(settings: Settings, name: str, *, ids: IdSource) -> BlobStore:
    """Return one container, on Azure or below `DATA_DIR` (spec page 6.5).

    Raises:
        ConfigurationError: the connection string or the endpoint is malformed.
    """
    if (account := settings.azure_account) is None:
        tags = local_tags(settings) if name == SESSIONS else None
        return LocalBlobStore(root=settings.data_dir / name, tags=tags)
    # Azure's SDK takes half a second to import.
    from data_models.storage.azure_blob_store import AzureBlobStore

    tags_of = session_tags if name == SESSIONS else None
    return AzureBlobStore(account, container=name, ids=ids, tags_of=tags_of)


def local_tags(settings: Settings) -> LocalBlobTags:
    """Return the tags of the conversations' files, by which scenario sessions are found."""
    return LocalBlobTags(path=settings.data_dir / INDEX_FILE, names=TAGS, tags_of=session_tags)


def require_data(settings: Settings) -> None:
    """Refuse a `DATA_DIR` that is not there: a wrong one would pass for one with nothing in it."""
    if settings.azure_account is None and not settings.data_dir.is_dir():
        told = "so nothing was done. Set it, or the storage account, as the servers have it."
        raise errors.ConfigurationError(f"DATA_DIR: there is no folder {settings.data_dir}, {told}")


@asynccontextmanager
async def opened(settings: Settings, *names: str, ids: IdSource) -> AsyncIterator[list[BlobStore]]:
    """Yield containers to a command, which are closed behind it; see `open_container`."""
    stores = [open_container(settings, name, ids=ids) for name in names]
    try:
        yield stores
    finally:
        for store in stores:
            await store.close()


_PREFIX, _SUFFIX = "patient_", "_context.json"
_SINGLE_HISTORY = "chat_context.json"
_TRIES = 5

Result: TypeAlias = Callable[[str, bytes], Awaitable[bytes | None]]
"""Makes of a document's name and bytes what shall stand there; None where it stays as it is."""
Keep: TypeAlias = Callable[[str, bytes], Awaitable[None]]
"""Does with the bytes that a document had what belongs to its change."""


async def _keep_nothing(_: str, __: bytes) -> None:
    """Let it go."""


@dataclass(slots=True)
class Rewritten:
    """What became of the documents; `failed` says by name why one was left as it is."""

    looked_at: int = 0
    changed: int = 0
    failed: dict[str, errors.RoundsError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextDocuments:
    """The context documents of one container.

    Attributes:
        lease: Holds conversations as turns do.
        principal_id: Names the command in their claims.
    """

    store: BlobStore
    lease: MaintenanceLease
    principal_id: str

    async def names(self, patient: str | None = None) -> AsyncIterator[str]:
        """Yield what the documents are called, or those of `patient`.

        Raises:
            StoreUnavailableError: the container cannot be used.
        """
        wanted = f"/{_PREFIX}{patient}{_SUFFIX}" if patient else _SUFFIX
        async for folder in self.store.folders():
            for name in [row.name async for row in self.store.list(f"{folder}/")]:
                inner = name.removeprefix(f"{folder}/")
                if f"/{inner}".endswith(wanted) and "/" not in inner and inner != _SINGLE_HISTORY:
                    yield name

    async def rewrite(
        self,
        result: Result,
        *,
        before: Keep = _keep_nothing,
        after: Keep = _keep_nothing,
        dry_run: bool = False,
        patient: str | None = None,
    ) -> Rewritten:
        """Look at each document, and hold only conversations with one to change.

        One that fails stops no other.

        Args:
            before: Keeps what is replaced.
            after: Removes what is not needed any more.

        Raises:
            StoreUnavailableError: the container cannot be used; what was done stays done.
        """
        done = Rewritten()
        async for name in self.names(patient):
            done.looked_at += 1
            try:
                blob = await self.store.read(name)
                if blob is None or await result(name, blob.data) is None:
                    continue
                if dry_run or await self._rewritten(name, result, before, after):
                    done.changed += 1
            except errors.RoundsError as error:
                done.failed[name] = error
        return done

    async def _rewritten(self, name: str, result: Result, before: Keep, after: Keep) -> bool:
        folder, _, inner = name.rpartition("/")
        async with self._holding(folder) as claim:
            if claim is not None:
                # Whoever takes over rewrites this very document, so that our write would fail.
                await claim.name_patient(_patient_of(inner))
            for _ in range(_TRIES):
                if claim is not None:
                    await claim.hold()
                blob = await self.store.read(name)  # again: before we held it, a turn may have run
                new = None if blob is None else await result(name, blob.data)
                if blob is None or new is None:
                    return False
                await before(name, blob.data)
                with suppress(errors.BlobChangedError):
                    await self.store.replace(name, new, etag=blob.etag)
                    await after(name, blob.data)
                    return True
        raise errors.StoreUnavailableError("the document kept changing")

    @asynccontextmanager
    async def _holding(self, folder: str) -> AsyncIterator[Claim | None]:
        """Hold the conversation of `folder`; None where there is none that a turn could run in.

        Raises:
            ConversationBusyError: its turns take too long.
            ClaimLostError: we stood still so long that somebody took us for dead.
            CorruptDocumentError: its conversation document cannot be read.
        """
        if (conversation_id := await conversation_of(self.store, folder)) is None:
            yield None
            return
        async with self.lease.holding(conversation_id, principal_id=self.principal_id) as claim:
            yield claim


def json_of(data: bytes) -> dict[str, Any]:
    """Return the JSON object of a context document.

    Raises:
        CorruptDocumentError: it is none.
    """
    with suppress(ValueError, RecursionError):
        if isinstance(document := json.loads(data), dict):
            return document
    raise errors.CorruptDocumentError("the context document is no JSON object")


def _patient_of(inner: str) -> PatientId | None:
    if not inner.startswith(_PREFIX):
        return None
    return storable_patient_id(inner.removeprefix(_PREFIX).removesuffix(_SUFFIX))
