"""Charts of thousands of entries beside a running event loop."""

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from services.records.resources.record import PatientRecord
from services.records.search_index import index_of

BIG_ENTRIES: Final = 2_000
PREPARE_AFTER_SECONDS: Final = 2.0
_ResultT = TypeVar("_ResultT")

_making = threading.Lock()
_made_now = 0


async def make_view(record: PatientRecord, view: Callable[[PatientRecord], _ResultT]) -> _ResultT:
    """Return a view of a record; of a big one in a thread, so that no other turn waits for it."""
    if len(record.entries) < BIG_ENTRIES:
        return view(record)
    return await asyncio.to_thread(_uncollected, record, view)


async def prepare_later(record: PatientRecord, *, views: Callable[[PatientRecord], object]) -> None:
    """Make what searches and `views` need, once the first answer had its time."""
    await asyncio.sleep(PREPARE_AFTER_SECONDS)
    await asyncio.to_thread(_uncollected, record, _prepare)
    await asyncio.to_thread(_uncollected, record, views)


def _prepare(record: PatientRecord) -> None:
    record.prepared()
    index_of(record)


def _uncollected(record: PatientRecord, view: Callable[[PatientRecord], _ResultT]) -> _ResultT:
    with without_collecting():
        return view(record)


@contextmanager
def without_collecting() -> Iterator[None]:
    """Hold the collector off while millions of objects are made, then keep it off these.

    Each of its rounds would look at all of them and stop the event loop for a second. Nothing in a
    record refers in a circle: it goes when the last reference goes, collected or not.
    """
    global _made_now  # noqa: PLW0603  # the collector is the process's too
    with _making:
        _made_now += 1
        gc.disable()
    try:
        yield
    finally:
        with _making:
            _made_now -= 1
            if _made_now == 0:
                gc.freeze()
                gc.enable()
