"""A small cache of loaded records, so that the tools of one turn read a record once."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from data_models.clock import Clock
from data_models.identifiers import PatientId
from services.records.record import PatientRecord


@dataclass(frozen=True, slots=True)
class _Kept:
    version: Hashable
    at: float
    bytes_: int
    record: PatientRecord


class RecordCache:
    """Keeps for `seconds` the most recently used records, `limit_bytes` together.

    Failures are not kept. The last one is kept whatever its size, or no turn could work on it.
    """

    def __init__(self, *, clock: Clock, limit_bytes: int, seconds: float = math.inf) -> None:
        self._clock = clock
        self._limit_bytes = limit_bytes
        self._seconds = seconds
        self._kept: OrderedDict[PatientId, _Kept] = OrderedDict()
        self._locks: WeakValueDictionary[PatientId, asyncio.Lock] = WeakValueDictionary()

    async def get(
        self,
        patient_id: PatientId,
        load: Callable[[PatientId], Awaitable[PatientRecord]],
        *,
        version: Hashable = None,
        size: Callable[[PatientRecord], int],
        may_stay: Callable[[PatientId], Awaitable[bool]] | None = None,
    ) -> PatientRecord:
        """Return the record kept in this `version`, else load it; callers wait for one load.

        Args:
            size: About how many bytes of memory a record takes.
            may_stay: Whether an old record is as it was.
        """
        lock = self._locks.setdefault(patient_id, asyncio.Lock())
        async with lock:
            kept = self._kept.get(patient_id)
            if kept is not None and kept.version == version:
                is_old = self._is_old(kept)
                if not is_old or (may_stay is not None and await may_stay(patient_id)):
                    at = self._clock.monotonic() if is_old else kept.at
                    self._keep(patient_id, replace(kept, at=at))
                    return kept.record
            record = await load(patient_id)
            self._keep(patient_id, _Kept(version, self._clock.monotonic(), size(record), record))
            return record

    def _is_old(self, kept: _Kept) -> bool:
        return self._clock.monotonic() - kept.at > self._seconds

    def _keep(self, patient_id: PatientId, new: _Kept) -> None:
        self._kept[patient_id] = new
        self._kept.move_to_end(patient_id)
        total = sum(each.bytes_ for each in self._kept.values())
        while total > self._limit_bytes and len(self._kept) > 1:
            total -= self._kept.popitem(last=False)[1].bytes_
