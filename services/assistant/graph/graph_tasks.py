"""A user's tasks in Microsoft To Do, by Microsoft Graph."""

from collections.abc import Sequence
from datetime import date, tzinfo
from functools import partial

from data_models.conversations.conversation import Effect
from data_models.errors import AssistantError
from services.assistant.calendar import ALWAYS, Span, Task
from services.assistant.graph import graph_shapes
from services.assistant.graph.graph_account import IMMUTABLE, GraphAccount, create, mark_of
from services.assistant.graph.graph_wire import Json, segment

_PREFER = f"{IMMUTABLE}, {graph_shapes.IN_UTC}"
_PAGE = "100"
_OPEN = "status ne 'completed'"


class GraphTasks:
    """A `TaskList` over the list that To Do itself makes for everybody.

    To Do refuses `$select` on tasks, so whole tasks are read.
    """

    def __init__(self, *, account: GraphAccount, zone: tzinfo) -> None:
        self._account = account.preferring(_PREFER)
        self._zone = zone
        self._list_id = ""

    async def list(
        self, *, due: Span[date] = ALWAYS, include_done: bool = False, limit: int
    ) -> Sequence[Task]:
        query = {"$top": _PAGE} if include_done else {"$filter": _OPEN, "$top": _PAGE}
        rows = self._account.rows(await self._tasks(), query)
        found = [self._task(row) async for row in rows]
        if any(due):
            found = [task for task in found if task.due and due.has(task.due)]
        return sorted(found, key=lambda task: (task.due or date.max, task.title, task.id))[:limit]

    async def get(self, task_id: str) -> Task | None:
        row = await self._account.get(await self._path(task_id))
        return None if row is None else self._task(row)

    async def add(self, task: Task, effect: Effect) -> Task:
        mark = mark_of("tasks", effect)
        body: Json = {
            "title": task.title,
            # People see in To Do where the task came from, and we find it again.
            "linkedResources": [
                {"applicationName": "Rounds", "displayName": "Rounds", "externalId": mark}
            ],
        }
        if task.notes:
            body["body"] = {"content": task.notes, "contentType": "text"}
        if task.due:
            body["dueDateTime"] = graph_shapes.given_day(task.due, self._zone)
        tasks = await self._tasks()
        look = partial(self._find_marked, tasks, mark)
        row = await create(self._account, tasks, body, effect, look=look)
        return self._task(row)

    async def complete(self, task_id: str) -> Task:
        return await self._patch(task_id, {"status": "completed"})

    async def reopen(self, task_id: str) -> Task:
        return await self._patch(task_id, {"status": "notStarted"})

    async def move(self, task_id: str, *, due: date | None, title: str = "") -> Task:
        given: Json = {
            "dueDateTime": None if due is None else graph_shapes.given_day(due, self._zone)
        }
        return await self._patch(task_id, given | ({"title": title} if title else {}))

    async def delete(self, task_id: str) -> bool:
        return await self._account.delete(await self._path(task_id))

    async def _patch(self, task_id: str, body: Json) -> Task:
        answer = await self._account.patch(await self._path(task_id), body)
        return self._task(answer.value())

    async def _find_marked(self, tasks: str, mark: str) -> Json | None:
        # Those that are done too: somebody may have been quick.
        query = {"$expand": "linkedResources", "$top": _PAGE}
        async for row in self._account.rows(tasks, query):
            links = graph_shapes.shaped(graph_shapes.GraphTask, row).linked_resources
            if any(link.external_id == mark for link in links):
                return row
        return None

    async def _path(self, task_id: str) -> str:
        return f"{await self._tasks()}/{segment(task_id)}"

    async def _tasks(self) -> str:
        """Return the path of the tasks; which list it is, is asked once."""
        if not self._list_id:
            self._list_id = await self._default_list()
        return f"todo/lists/{segment(self._list_id)}/tasks"

    async def _default_list(self) -> str:
        async for row in self._account.rows("todo/lists"):
            found = graph_shapes.shaped(graph_shapes.GraphTaskList, row)
            if found.wellknown_list_name == "defaultList":
                return found.id
        raise AssistantError("there is no default list of tasks")

    def _task(self, row: Json) -> Task:
        task = graph_shapes.shaped(graph_shapes.GraphTask, row)
        return Task(
            id=task.id,
            title=task.title,
            due=None if task.due is None else graph_shapes.day_of(task.due, self._zone),
            is_done=task.status == "completed",
            notes=task.body.content if task.body else "",
        )
