"""A small cache of loaded records, so that the tools of one turn read a record once."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from weakref import WeakValueDictionary

from data_models.clock import Clock
from data_models.identifiers import PatientId
from services.records.record import PatientRecord


class RecordCache:
    """Keeps the `limit` most recently used records for `seconds`; failures are not kept."""

    def __init__(self, *, clock: Clock, limit: int, seconds: float) -> None:
        self._clock = clock
        self._limit = limit
        self._seconds = seconds
        self._kept: OrderedDict[PatientId, tuple[float, PatientRecord]] = OrderedDict()
        self._locks: WeakValueDictionary[PatientId, asyncio.Lock] = WeakValueDictionary()

    async def get(
        self, patient_id: PatientId, load: Callable[[PatientId], Awaitable[PatientRecord]]
    ) -> PatientRecord:
        """Return the kept record, else load it; callers of one patient wait for one load."""
        lock = self._locks.setdefault(patient_id, asyncio.Lock())
        async with lock:
            kept = self._fresh(patient_id)
            if kept is not None:
                return kept
            record = await load(patient_id)
            self._keep(patient_id, record)
            return record

    def _fresh(self, patient_id: PatientId) -> PatientRecord | None:
        found = self._kept.get(patient_id)
        if found is None or self._clock.monotonic() - found[0] > self._seconds:
            return None
        self._kept.move_to_end(patient_id)
        return found[1]

    def _keep(self, patient_id: PatientId, record: PatientRecord) -> None:
        self._kept[patient_id] = (self._clock.monotonic(), record)
        self._kept.move_to_end(patient_id)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
