"""When whom has last looked at a chart, and how it was then: ids, hashes and states only.

A look ends 30 minutes after its last turn. `looked/{hash of user}/{patient}.json` stands beside
the conversations, in a folder of its own: whatever stands below `users/` is a conversation.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias
from weakref import ReferenceType, ref

from data_models.identifiers import PatientId, hashed
from data_models.storage.blob_store import Blob, BlobStore, put_blob
from data_models.values import Newest, Value, read_if_whole
from services.evidence.changes import ChartStates
from services.records.resources.record import PatientRecord

_Key: TypeAlias = tuple[str, PatientId]
_RECENT_LIMIT = 64
FOLDER = "looked"
LOOK_MINUTES = 30
NOTED_MINUTES = 5
"""An unchanged chart is noted anew after so long; until then the look may count as that older."""


class Looked(Value):
    """What one user saw of one chart.

    Attributes:
        before: As it was at the end of the look before the last one.
        last: As it was at the last turn.
    """

    patient_id: PatientId
    before: ChartStates | None = None
    last: ChartStates

    def baseline(self, now: datetime) -> ChartStates | None:
        """Return the chart as it was when the user had last looked, before the look of `now`."""
        return self.last if self.is_over(now) else self.before

    def is_over(self, now: datetime) -> bool:
        """Whether the last look has ended."""
        return now - self.last.taken_at > timedelta(minutes=LOOK_MINUTES)

    def is_new(self, now: datetime) -> bool:
        """Whether the last turn was a moment ago."""
        return now - self.last.taken_at < timedelta(minutes=NOTED_MINUTES)

    def is_noted(self, now: ChartStates) -> bool:
        """Whether the same chart was noted a moment ago."""
        if not self.is_new(now.taken_at):
            return False
        return self.last.model_copy(update={"taken_at": now.taken_at}) == now

    def then(self, now: ChartStates) -> "Looked":
        """Return what is kept once the chart was seen as it is `now`."""
        return self.model_copy(update={"before": self.baseline(now.taken_at), "last": now})


@dataclass(frozen=True, slots=True)
class LookTaken:
    """A chart as a turn took it in, and what its user had seen before; None: nothing.

    Attributes:
        note: As it is stored; None where there is none.
    """

    now: ChartStates
    earlier: Looked | None
    note: Blob | None = None

    @property
    def baseline(self) -> ChartStates | None:
        """The chart as it was when the user had last looked; None: never."""
        return None if self.earlier is None else self.earlier.baseline(self.now.taken_at)


class RecentLooks:
    """Looks that go on at a chart that was not loaded anew: nothing is new, nothing to be noted."""

    def __init__(self) -> None:
        self._looked = Newest[_Key, tuple[ReferenceType[PatientRecord], Looked]](
            limit=_RECENT_LIMIT
        )

    def keep(self, key: _Key, record: PatientRecord, looked: Looked) -> None:
        """Remember what was noted of a chart; of a user and patient who come back soon."""
        self._looked[key] = ref(record), looked

    def taken(self, key: _Key, record: PatientRecord, now: datetime) -> LookTaken | None:
        """Return the look that goes on; None where chart and note are to be read anew."""
        loaded, looked = self._looked.get(key, (None, None))
        if loaded is None or looked is None or loaded() is not record:
            return None
        # What is planned for a day ends with it: the same chart then stands otherwise.
        is_same_day = now.date() == looked.last.taken_at.date()
        return LookTaken(looked.last, looked) if looked.is_new(now) and is_same_day else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBook:
    """Keeps the looks, a blob for each user and patient; each user reads their own alone."""

    store: BlobStore

    async def read(self, user: str, patient_id: PatientId) -> Looked | None:
        """Return what the user saw; None: nothing so far, or nothing that can be read.

        Raises:
            StoreUnavailableError: the store does not answer.
        """
        blob = await self.store.read(_name(user, patient_id))
        # One that cannot be read is as good as none: the chart counts as not looked at.
        return None if blob is None else read_if_whole(blob.data, Looked)

    async def take(self, user: str, patient_id: PatientId, now: ChartStates) -> LookTaken:
        """Return the chart as it is `now` beside what the user saw of it.

        Raises:
            StoreUnavailableError: the store does not answer.
        """
        blob = await self.store.read(_name(user, patient_id))
        earlier = read_if_whole(None if blob is None else blob.data, Looked)
        return LookTaken(now, earlier, blob)

    async def note(self, user: str, patient_id: PatientId, look: LookTaken) -> None:
        """Note that the user has taken the look; what was noted meanwhile wins.

        Raises:
            StoreUnavailableError: the store does not answer.
        """
        name, now, looked = _name(user, patient_id), look.now, look.earlier
        if looked is not None and looked.is_noted(now):
            return
        new = Looked(patient_id=patient_id, last=now) if looked is None else looked.then(now)
        await put_blob(self.store, name, new.model_dump_json().encode(), replaces=look.note)


def _name(user: str, patient_id: PatientId) -> str:
    return f"{FOLDER}/{hashed(user)}/{patient_id}.json"
