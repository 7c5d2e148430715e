"""Stops that users ask for at another replica than the one that runs their turn."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import Context

import structlog

from data_models.conversation_accessor import ConversationAccessor
from data_models.errors import StoreError
from services.runs.hub import Run
from services.runs.replica_signals import ReplicaSignal, ReplicaSignals

LOOK_SECONDS = 1.0
"""How often signals are looked at while turns run: one read, however many do. Turns that are
shorter cost none."""

logger = structlog.get_logger()


class StopRequests:
    """Sends stops to other replicas and listens for those that are meant for the runs here."""

    def __init__(
        self,
        *,
        conversations: ConversationAccessor,
        signals: ReplicaSignals,
        replica: str,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._conversations = conversations
        self._signals = signals
        self._replica = replica
        self._look_seconds = look_seconds
        self._running: dict[str, Run] = {}
        self._begun: dict[str, float] = {}
        self._listener: asyncio.Task[None] | None = None
        self._has_signal = False

    async def send(self, conversation_id: str, *, owner: str, run_id: str | None) -> bool:
        """Ask the replica that runs the owner's turn to cancel it; False if none does.

        Raises:
            StoreError: it could not be asked.
        """
        stored = await self._conversations.read(conversation_id, fresh=True)
        if stored is None or stored.document.owner != owner:
            return False
        running = stored.document.running_turn
        if running is None or running.purpose != "turn" or run_id not in (None, running.run_id):
            return False
        await self._signals.send(running.replica, ReplicaSignal(run_id=running.run_id, what="stop"))
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
                await self._signals.take_down(self._replica)

    async def _listen(self) -> None:
        try:
            while self._running:
                await asyncio.sleep(self._look_seconds)
                if self._is_any_long():
                    await self._look()
        finally:
            self._listener = None

    def _is_any_long(self) -> bool:
        now = asyncio.get_running_loop().time()
        return any(now - begun >= self._look_seconds for begun in self._begun.values())

    async def _look(self) -> None:
        try:
            signals = await self._signals.received(self._replica)
        except StoreError as error:
            logger.warning("bell_unreadable", code=error.code)
            return
        self._has_signal = self._has_signal or bool(signals)
        for signal in signals:
            run = self._running.get(signal.run_id)
            if run is not None and signal.what == "stop":
                run.request_stop("cancelled")
