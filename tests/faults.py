"""A store that fails as told, for crash sweeps and fault tests."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from data_models.errors import StoreError, StoreUnavailableError
from data_models.storage.blob_store import Blob, BlobInfo, BlobStore
from data_models.storage.counting_blob_store import StorageOperation

T = TypeVar("T")

_FOR_GOOD = 1_000
WRITES: frozenset[StorageOperation] = frozenset({"create", "replace", "delete", "append"})


class SimulatedKill(BaseException):
    """The process ends here: nothing may catch this, and the store takes nothing afterwards."""


@dataclass(frozen=True, slots=True)
class Down:
    """The store answers 503; nothing was done."""


@dataclass(frozen=True, slots=True)
class LostAnswer:
    """The operation is done, and its answer is lost."""


@dataclass(frozen=True, slots=True)
class Delay:
    """The operation is done after `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Kill:
    """The process ends, before the operation or right `after` it.

    `SimulatedKill` stands for it within a test process; with `really`, SIGKILL does.
    """

    after: bool = False
    really: bool = False


Fault: TypeAlias = Down | LostAnswer | Delay | Kill


@dataclass(frozen=True, slots=True)
class Operation:
    """One call that reached the store, counted from 1."""

    number: int
    kind: StorageOperation | Literal["check"]
    name: str


class FaultyBlobStore:
    """A `BlobStore` around `inner` that fails at the operations which `plan` numbers from 1.

    Args:
        inner: what does the work; several faulty stores may share it, as processes would.
        plan: the fault of the n-th operation.
        always: the fault of every operation that `plan` does not name, say `Down()`.
        only: kinds of operation that are numbered and can fail; None means all. Others pass.

    A listing is one operation and fails before its first row.
    """

    def __init__(
        self,
        inner: BlobStore,
        plan: Mapping[int, Fault] | None = None,
        *,
        always: Fault | None = None,
        only: frozenset[StorageOperation] | None = None,
    ) -> None:
        self._inner = inner
        self._plan = dict(plan or {})
        self._only = only
        self._killed = False
        self.always = always
        self.operations: list[Operation] = []

    def cut_off(self, *, after: int) -> None:
        """Be gone from the `after`-th operation on that is still to come."""
        first = len(self.operations) + after + 1
        self._plan |= {number: Down() for number in range(first, first + _FOR_GOOD)}

    async def read(self, name: str) -> Blob | None:
        return await self._meet("read", name, partial(self._inner.read, name))

    async def create(self, name: str, data: bytes) -> str:
        return await self._meet("create", name, partial(self._inner.create, name, data))

    async def replace(self, name: str, data: bytes, *, etag: str) -> str:
        work = partial(self._inner.replace, name, data, etag=etag)
        return await self._meet("replace", name, work)

    async def delete(self, name: str) -> None:
        await self._meet("delete", name, partial(self._inner.delete, name))

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        await self._meet("list", prefix, _nothing)
        async for row in self._inner.list(prefix):
            yield row

    async def folders(self) -> AsyncIterator[str]:
        await self._meet("list", "", _nothing)
        async for folder in self._inner.folders():
            yield folder

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        work = partial(self._inner.append, name, data, position=position)
        return await self._meet("append", name, work)

    async def check(self) -> None:
        if isinstance(self.always, Down) or self._killed:
            raise StoreUnavailableError
        await self._inner.check()

    async def close(self) -> None:
        """`inner` may be shared; whoever made it closes it."""

    async def _meet(self, kind: StorageOperation, name: str, work: Callable[[], Awaitable[T]]) -> T:
        if self._killed:
            raise SimulatedKill
        if self._only is not None and kind not in self._only:
            return await work()
        number = len(self.operations) + 1
        self.operations.append(Operation(number, kind, name))
        return await self._failing(self._plan.get(number, self.always), work)

    async def _failing(self, fault: Fault | None, work: Callable[[], Awaitable[T]]) -> T:
        match fault:
            case None:
                return await work()
            case Down():
                raise StoreUnavailableError
            case LostAnswer():
                with suppress(StoreError):  # a refusal is an answer, too
                    await work()
                raise StoreUnavailableError
            case Delay(seconds):
                await asyncio.sleep(seconds)
                return await work()
            case Kill(after):
                if after:
                    await work()
        raise self._kill(really=fault.really)

    def _kill(self, *, really: bool) -> SimulatedKill:
        if really:
            os.kill(os.getpid(), signal.SIGKILL)
        self._killed = True
        return SimulatedKill()


async def _nothing() -> None:
    """A listing has no work of its own to fail at."""
