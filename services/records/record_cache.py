"""A small cache of loaded records, so that the tools of one turn read a record once."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from data_models.identifiers import PatientId
from services.records.record import PatientRecord


@dataclass(frozen=True, slots=True)
class _Kept:
    version: Hashable
    bytes_: int
    record: PatientRecord


class RecordCache:
    """Keeps the most recently used records, `limit_bytes` together.

    Failures are not kept. The last one is kept whatever its size, or no turn could work on it.
    """

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[PatientId, _Kept] = OrderedDict()
        self._locks: WeakValueDictionary[PatientId, asyncio.Lock] = WeakValueDictionary()

    async def get(
        self,
        patient_id: PatientId,
        load: Callable[[PatientId], Awaitable[PatientRecord]],
        *,
        version: Hashable = None,
        size: Callable[[PatientRecord], int],
    ) -> PatientRecord:
        """Return the record kept in this `version`, else load it; callers wait for one load.

        Args:
            size: About how many bytes of memory a record takes.
        """
        lock = self._locks.setdefault(patient_id, asyncio.Lock())
        async with lock:
            kept = self._kept.get(patient_id)
            if kept is None or kept.version != version:
                record = await load(patient_id)
                kept = _Kept(version, size(record), record)
            self._keep(patient_id, kept)
            return kept.record

    def _keep(self, patient_id: PatientId, new: _Kept) -> None:
        self._kept[patient_id] = new
        self._kept.move_to_end(patient_id)
        total = sum(each.bytes_ for each in self._kept.values())
        while total > self._limit_bytes and len(self._kept) > 1:
            total -= self._kept.popitem(last=False)[1].bytes_
