"""What operators did to a scenario, in order, for the people who come after them.

The audit trail of the server holds the same acts under its hash chain; this is the copy that a
page can read at once.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from data_models.blob_store import Blob
from data_models.errors import BlobChangedError, CorruptDocumentError

TRIES = 5
Outcome: TypeAlias = Literal["done", "refused"]
SHOWN_LIMIT = 200


class Paper(Protocol):
    """Named bytes that grow; every `data_models.blob_store.BlobStore` is one."""

    async def read(self, name: str) -> Blob | None:
        """See `BlobStore.read`."""
        ...

    async def append(self, name: str, data: bytes, *, position: int) -> int:
        """See `BlobStore.append`."""
        ...


class JournalEntry(BaseModel):
    """One act; `note` names versions, steps and counts, nothing of a patient."""

    model_config = ConfigDict(frozen=True)

    time: AwareDatetime
    operator: str
    action: str
    note: str = ""
    outcome: Outcome = "done"


class Journal:
    """One list for each scenario. A blob takes 50,000 appends, more than operators make."""

    def __init__(self, *, paper: Paper) -> None:
        self._paper = paper

    async def write(self, scenario_id: str, entry: JournalEntry) -> None:
        """Add an act.

        Raises:
            BlobChangedError: others wrote at the same moment, again and again.
        """
        line = entry.model_dump_json().encode() + b"\n"
        name = _name(scenario_id)
        for _ in range(TRIES):
            blob = await self._paper.read(name)
            try:
                await self._paper.append(name, line, position=len(blob.data) if blob else 0)
            except BlobChangedError:
                continue
            return
        raise BlobChangedError("the journal changed all the time")

    async def newest(self, scenario_id: str) -> Sequence[JournalEntry]:
        """Return the newest acts, newest first.

        Raises:
            CorruptDocumentError: the journal cannot be read.
        """
        blob = await self._paper.read(_name(scenario_id))
        lines = blob.data.splitlines()[-SHOWN_LIMIT:] if blob else []
        try:
            return [JournalEntry.model_validate_json(line) for line in reversed(lines)]
        except ValidationError as error:
            raise CorruptDocumentError("Journal cannot be read") from error


def _name(scenario_id: str) -> str:
    return f"scenarios/{scenario_id}/journal.jsonl"
