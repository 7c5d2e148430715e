"""Tasks in one JSON file."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date

from data_models.effects import Effect
from services.assistant.local_rows import LocalRows, id_of
from services.assistant.tasks import NewTask, Task


class LocalTaskList:
    """A `TaskList`."""

    def __init__(self, *, rows: LocalRows[Task]) -> None:
        self._rows = rows

    async def list(
        self,
        *,
        since: date | None = None,
        until: date | None = None,
        include_done: bool = False,
        limit: int,
    ) -> Sequence[Task]:
        """See `TaskList.list`."""
        rows = await self._rows.all()
        found = [
            row
            for row in rows
            if (include_done or not row.is_done) and _is_due(row, since=since, until=until)
        ]
        return sorted(found, key=lambda row: (row.due or date.max, row.title))[:limit]

    async def get(self, task_id: str) -> Task | None:
        """See `TaskList.get`."""
        return await self._rows.get(task_id)

    async def add(self, task: NewTask, effect: Effect) -> Task:
        """See `TaskList.add`."""
        return await self._rows.add(Task(id=id_of("task", effect), **asdict(task)))

    async def complete(self, task_id: str) -> Task:
        """See `TaskList.complete`."""
        return await self._rows.change(task_id, is_done=True)

    async def reopen(self, task_id: str) -> Task:
        """See `TaskList.reopen`."""
        return await self._rows.change(task_id, is_done=False)

    async def move(self, task_id: str, *, due: date | None) -> Task:
        """See `TaskList.move`."""
        return await self._rows.change(task_id, due=due)

    async def delete(self, task_id: str) -> bool:
        """See `TaskList.delete`."""
        return await self._rows.remove(task_id)


def _is_due(task: Task, *, since: date | None, until: date | None) -> bool:
    if since is None and until is None:
        return True
    if task.due is None:
        return False
    return (since is None or task.due >= since) and (until is None or task.due < until)
