"""One replica asks another for something: a small document that the other looks at."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from data_models.blob_store import BlobStore
from data_models.errors import BlobChangedError, BlobExistsError, StoreUnavailableError
from data_models.identifiers import hashed

_KEPT_RINGS = 64
_TRIES = 8


class ReplicaSignal(BaseModel):
    """What is asked: show a run to other replicas, or stop it. Ids only, nothing of a patient."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run_id: str
    what: Literal["show", "stop"]


class _Rings(BaseModel):
    rings: list[ReplicaSignal] = []


class ReplicaSignals:
    """A signal for each replica: `bells/{hash of its name}.json`, beside the conversations.

    Who rings has checked that the run is its caller's. What is received stays until 64 others
    came, so hearing it twice must do no harm.
    """

    def __init__(self, *, store: BlobStore) -> None:
        self._store = store

    async def received(self, replica: str) -> list[ReplicaSignal]:
        """Return what was asked of `replica`, oldest first: one read."""
        blob = await self._store.read(_name(replica))
        return [] if blob is None else _parsed(blob.data).rings

    async def send(self, replica: str, send: ReplicaSignal) -> None:
        """Ask `replica` for `send`; it is asked when this returns.

        Raises:
            StoreUnavailableError: it may not be.
        """
        name = _name(replica)
        for _ in range(_TRIES):
            blob = await self._store.read(name)
            rings = [] if blob is None else _parsed(blob.data).rings
            if send in rings:
                return
            data = _Rings(rings=[*rings, send][-_KEPT_RINGS:]).model_dump_json().encode()
            try:
                if blob is None:
                    await self._store.create(name, data)
                else:
                    await self._store.replace(name, data, etag=blob.etag)
            except (BlobExistsError, BlobChangedError):
                continue  # somebody else rings, too
            return
        raise StoreUnavailableError("too many send the signal of one replica")

    async def take_down(self, replica: str) -> None:
        """Delete the signal of a replica that stops."""
        await self._store.delete(_name(replica))


def _name(replica: str) -> str:
    return f"bells/{hashed(replica)}.json"


def _parsed(data: bytes) -> _Rings:
    try:
        return _Rings.model_validate_json(data)
    except ValidationError:
        return _Rings()  # of a release that says it otherwise; nothing is lost but a send
