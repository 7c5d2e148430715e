"""What people changed in a patient's memory: by whom, from what, to what."""

from typing import Any, Literal, TypeAlias

from pydantic import AwareDatetime, Field

from data_models.document import Document, Part
from data_models.identifiers import PatientId

CHANGES_LIMIT_BYTES = 2_000
MemoryAction: TypeAlias = Literal["correct", "retire", "restore", "undo"]


class MemoryChange(Part):
    """One change.

    Attributes:
        change_id: Counted in the document and never used again.
        by: Principal id of the person.
        item: Id of what was changed, as the memory view names it.
        label: What it is called, for people.
        before: Its state as it was stored; None if it was not there.
        after: Its state since then; None if it was removed.
        undone: Whether a later change took it back.
    """

    change_id: int
    at: AwareDatetime
    by: str
    action: MemoryAction
    item: str
    label: str
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    undone: bool = False


class MemoryChanges(Part):
    """The newest changes, oldest first; older ones are in blobs beside the document."""

    changes: list[MemoryChange] = Field(default_factory=list)
    next_change: int = 1

    def leaving(self) -> list[MemoryChange]:
        """Take out and return what no longer fits; the newest stays whatever its size."""
        sizes = [len(one.model_dump_json().encode()) for one in self.changes]
        count = 0
        while len(sizes) - count > 1 and sum(sizes[count:]) > CHANGES_LIMIT_BYTES:
            count += 1
        gone, self.changes = self.changes[:count], self.changes[count:]
        return gone


class ArchivedChanges(Document):
    """`…_changes/{first}-{last}.json`: changes that left the document."""

    patient_id: PatientId | None
    changes: list[MemoryChange]
