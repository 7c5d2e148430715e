"""When whom has last looked at a chart, and how it was then: ids, hashes and states only.

A look ends 30 minutes after its last turn. `looked/{hash of user}/{patient}.json` stands beside
the conversations, in a folder of its own: whatever stands below `users/` is a conversation.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict, ValidationError

from data_models.blob_store import Blob, BlobStore
from data_models.errors import BlobChangedError, BlobExistsError
from data_models.identifiers import PatientId, hashed
from services.evidence.chart_states import ChartStates

FOLDER = "looked"
LOOK_MINUTES = 30


class Looked(BaseModel):
    """What one user saw of one chart.

    Attributes:
        before: As it was at the end of the look before the last one.
        last: As it was at the last turn.
    """

    model_config = ConfigDict(frozen=True)

    patient_id: PatientId
    before: ChartStates | None = None
    last: ChartStates

    def baseline(self, now: datetime) -> ChartStates | None:
        """Return the chart as it was when the user had last looked, before the look of `now`."""
        return self.last if self.is_over(now) else self.before

    def is_over(self, now: datetime) -> bool:
        """Whether the last look has ended."""
        return now - self.last.taken_at > timedelta(minutes=LOOK_MINUTES)

    def then(self, now: ChartStates) -> "Looked":
        """Return what is kept once the chart was seen as it is `now`."""
        return self.model_copy(update={"before": self.baseline(now.taken_at), "last": now})


@dataclass(frozen=True, slots=True)
class LookTaken:
    """A chart as a turn took it in, and what its user had seen before; None: nothing."""

    now: ChartStates
    earlier: Looked | None

    @property
    def baseline(self) -> ChartStates | None:
        """The chart as it was when the user had last looked; None: never."""
        return None if self.earlier is None else self.earlier.baseline(self.now.taken_at)


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
        return None if blob is None else _parsed(blob)

    async def note(self, user: str, patient_id: PatientId, now: ChartStates) -> None:
        """Note that the user sees the chart as it is `now`; another replica's note wins.

        Raises:
            StoreUnavailableError: the store does not answer.
        """
        name = _name(user, patient_id)
        blob = await self.store.read(name)
        looked = None if blob is None else _parsed(blob)
        new = Looked(patient_id=patient_id, last=now) if looked is None else looked.then(now)
        data = new.model_dump_json().encode()
        try:
            if blob is None:
                await self.store.create(name, data)
            else:
                await self.store.replace(name, data, etag=blob.etag)
        except (BlobExistsError, BlobChangedError):
            return


def is_of_patient(name: str, patient_id: PatientId) -> bool:
    """Whether a blob beside the conversations is a look at this patient's chart."""
    return name.startswith(f"{FOLDER}/") and name.endswith(f"/{patient_id}.json")


def _name(user: str, patient_id: PatientId) -> str:
    return f"{FOLDER}/{hashed(user)}/{patient_id}.json"


def _parsed(blob: Blob) -> Looked | None:
    """A note that cannot be read is as good as none: the chart counts as not looked at."""
    try:
        return Looked.model_validate_json(blob.data)
    except ValidationError:
        return None
