"""A clinician's own tasks, said without naming a product."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from data_models.conversations.effects import Effect
from services.assistant.calendar import ALWAYS, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Something to do.

    Attributes:
        due: A whole day in the user's zone; None has no date.
        id: "" until it is in a list.
    """

    id: str = ""
    title: str
    due: date | None = None
    is_done: bool = False
    notes: str = ""


class TaskList(Protocol):
    """One person's tasks. Every method raises `AssistantError` where they cannot be used."""

    async def list(
        self, *, due: Span[date] = ALWAYS, include_done: bool = False, limit: int
    ) -> Sequence[Task]:
        """Return tasks, those due first at the head and those without a date at the end.

        Args:
            due: Where it bounds anything, only tasks that are due in that span.
            limit: At most so many, however many pages the back end needs for them.
        """
        ...

    async def get(self, task_id: str) -> Task | None:
        """Return one task, or None if it is gone."""
        ...

    async def add(self, task: Task, effect: Effect) -> Task:
        """Add a task, once under the key of `effect`."""
        ...

    async def complete(self, task_id: str) -> Task:
        """Mark a task done; one that is done stays done.

        Raises:
            AssistantItemGoneError: it is gone.
        """
        ...

    async def reopen(self, task_id: str) -> Task:
        """Mark a task not done.

        Raises:
            AssistantItemGoneError: it is gone.
        """
        ...

    async def move(self, task_id: str, *, due: date | None, title: str = "") -> Task:
        """Give a task another date, or none; its title, which may tell an hour, if one is given.

        Raises:
            AssistantItemGoneError: it is gone.
        """
        ...

    async def delete(self, task_id: str) -> bool:
        """Remove a task; False if it was gone already."""
        ...
