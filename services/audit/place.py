"""Where the trail is kept: `trail/{day}/{replica}/{part}.jsonl` in a container of its own.

On Azure the container can be given an immutability policy that still allows appends; the chain
shows what was changed or taken out, the policy also keeps the end from being cut off.
"""

from dataclasses import dataclass
from datetime import datetime

from data_models.identifiers import storage_folder

ROOT = "trail/"


@dataclass(frozen=True, slots=True)
class Place:
    """One chain: a replica's records of one UTC day, in numbered parts."""

    day: str
    folder: str

    @classmethod
    def of(cls, moment: datetime, replica: str) -> "Place":
        """Return the chain of `replica` at `moment`."""
        return cls(moment.strftime("%Y-%m-%d"), storage_folder(replica))

    def part(self, number: int) -> str:
        """Return the name of the part `number`, from 1; names sort as numbers."""
        return f"{ROOT}{self.day}/{self.folder}/{number:06}.jsonl"
