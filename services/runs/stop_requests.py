"""Stops that users ask for at another replica than the one that runs their turn."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from typing import Literal

import structlog
from pydantic import BaseModel

from data_models.conversations.conversation_accessor import ConversationAccessor
from data_models.errors import StoreError
from data_models.identifiers import hashed
from data_models.storage.blob_changes import change_blob
from data_models.storage.blob_store import BlobStore
from data_models.values import read_if_whole
from services.runs.hub import Run

_KEPT_RINGS = 64


class ReplicaSignal(BaseModel, frozen=True, extra="ignore"):
    """A run that is to stop. Ids only, nothing of a patient."""

    run_id: str
    what: Literal["stop"]


class _Rings(BaseModel):
    rings: list[ReplicaSignal] = []


class ReplicaSignals:
    """A signal for each replica: `bells/{hash of its name}.json`, beside the conversations.

    Who rings has checked that the run is its caller's. What is received stays until 64 others
    came, so hearing it twice must do no harm.
    """

    def __init__(self, *, store: BlobStore) -> None:
        self._store = store

    async def read(self, replica: str) -> list[ReplicaSignal]:
        """Return what was asked of `replica`, oldest first: one read."""
        blob = await self._store.read(_name(replica))
        return _rings(None if blob is None else blob.data)

    async def send(self, replica: str, send: ReplicaSignal) -> None:
        """Ask `replica` for `send`; it is asked when this returns.

        Raises:
            StoreUnavailableError: it may not be.
        """

        def ring(data: bytes | None) -> bytes | None:
            rings = _rings(data)
            if send in rings:
                return None
            return _Rings(rings=[*rings, send][-_KEPT_RINGS:]).model_dump_json().encode()

        await change_blob(self._store, _name(replica), ring, what="the signal of a replica")

    async def take_down(self, replica: str) -> None:
        """Delete the signal of a replica that stops."""
        await self._store.delete(_name(replica))


def _name(replica: str) -> str:
    return f"bells/{hashed(replica)}.json"


def _rings(data: bytes | None) -> list[ReplicaSignal]:
    found = read_if_whole(data, _Rings)
    # One of a release that says it otherwise: nothing is lost but a send.
    return [] if found is None else found.rings


LOOK_SECONDS = 1.0
"""How often signals are looked at while turns run: one read, however many do. Turns that are
shorter cost none."""

logger = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class StopRequests:
    """Sends stops to other replicas and listens for those that are meant for the runs here."""

    conversations: ConversationAccessor
    signals: ReplicaSignals
    replica: str
    look_seconds: float = LOOK_SECONDS
    _running: dict[str, Run] = field(default_factory=dict, init=False)
    _begun: dict[str, float] = field(default_factory=dict, init=False)
    _listener: asyncio.Task[None] | None = field(default=None, init=False)
    _has_signal: bool = field(default=False, init=False)

    async def send(self, conversation_id: str, *, owner: str, run_id: str | None) -> bool:
        """Ask the replica that runs the owner's turn to cancel it; False if none does.

        Raises:
            StoreError: it could not be asked.
        """
        stored = await self.conversations.read(conversation_id, fresh=True)
        if stored is None or stored.document.owner != owner:
            return False
        running = stored.document.running_turn
        if running is None or running.purpose != "turn" or run_id not in (None, running.run_id):
            return False
        await self.signals.send(running.replica, ReplicaSignal(run_id=running.run_id, what="stop"))
        return True

    @contextmanager
    def heeded(self, run: Run) -> Iterator[None]:
        """Stop `run` when another replica asks for it, while it goes on."""
        self._running[run.run_id] = run
        self._begun[run.run_id] = asyncio.get_running_loop().time()
        if self._listener is None:
            # A context of its own: what it asks of storage is no turn's.
            self._listener = asyncio.create_task(self._listen(), context=Context())
        try:
            yield
        finally:
            del self._running[run.run_id], self._begun[run.run_id]

    async def close(self) -> None:
        """Listen no more, and leave nothing behind."""
        if self._listener is not None:
            self._listener.cancel()
        if self._has_signal:
            with suppress(StoreError):
                await self.signals.take_down(self.replica)

    async def _listen(self) -> None:
        try:
            while self._running:
                await asyncio.sleep(self.look_seconds)
                if self._is_any_long():
                    await self._look()
        finally:
            self._listener = None

    def _is_any_long(self) -> bool:
        now = asyncio.get_running_loop().time()
        return any(now - begun >= self.look_seconds for begun in self._begun.values())

    async def _look(self) -> None:
        try:
            signals = await self.signals.read(self.replica)
        except StoreError as error:
            logger.warning("bell_unreadable", code=error.code)
            return
        self._has_signal = self._has_signal or bool(signals)
        for signal in signals:
            if (run := self._running.get(signal.run_id)) is not None:
                run.request_stop("cancelled")
