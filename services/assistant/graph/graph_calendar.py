"""A user's default calendar, and their tasks in Microsoft To Do, by Microsoft Graph."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo
from functools import partial

from data_models.conversations.conversation import Effect
from data_models.errors import AssistantError, AssistantItemGoneError, AssistantUnsureError
from services.assistant.graph import graph_account, graph_shapes
from services.assistant.graph.graph_account import GraphAccount, create, mark_of
from services.assistant.graph.graph_client import GraphAnswer, Json, segment
from services.assistant.own_things import ALWAYS, EVENTS_LIMIT, CalendarEvent, NewEvent, Span, Task

_EVENT_FIELDS = "id,subject,start,end,isAllDay,isCancelled,location,attendees"
_PREFER = f"{graph_account.IMMUTABLE}, {graph_shapes.IN_UTC}"
_PAGE = "100"
_TRIES = 3
_MADE_BEFORE = "ErrorDuplicateTransactionId"


class GraphCalendar:
    """A `Calendar`; an occurrence of a series is moved and cancelled alone."""

    def __init__(self, *, account: graph_account.GraphAccount, zone: tzinfo) -> None:
        self._account = account.preferring(_PREFER)
        self._zone = zone

    async def between(self, start: datetime, end: datetime) -> Sequence[CalendarEvent]:
        query = {
            "startDateTime": graph_shapes.odata(start),
            "endDateTime": graph_shapes.odata(end),
            "$select": _EVENT_FIELDS,
            "$orderby": "start/dateTime",
            "$top": _PAGE,
        }
        found: list[CalendarEvent] = []
        async for row in self._account.rows("calendarView", query):
            event = _event(graph_shapes.shaped(graph_shapes.GraphEvent, row), self._zone)
            # Whole days float: Graph's view takes them as UTC, the user's day may be another.
            if event is not None and event.start < end and event.end > start:
                found.append(event)
            if len(found) == EVENTS_LIMIT:
                break
        return sorted(found, key=lambda one: (one.start, one.id))

    async def get(self, event_id: str) -> CalendarEvent | None:
        row = await self._row(event_id)
        return None if row is None else _event(row, self._zone)

    async def create(self, event: NewEvent, effect: Effect) -> CalendarEvent:
        mark = graph_account.mark_of("events", effect)
        body: Json = {
            "subject": event.title,
            "start": graph_shapes.given(event.start),
            "end": graph_shapes.given(event.end),
            # With it Graph makes no second event where its first answer was lost.
            "transactionId": mark,
            **graph_account.mark_property(mark),
        }
        if event.location:
            body["location"] = {"displayName": event.location}
        return _needed(await self._create_once(body, mark, effect), self._zone)

    async def move(
        self, event_id: str, *, start: datetime, length: timedelta | None = None
    ) -> CalendarEvent:
        for _ in range(_TRIES):
            row = await self._row(event_id)
            event = None if row is None else _event(row, self._zone)
            if row is None or event is None:
                raise AssistantItemGoneError("the event is no longer in the calendar")
            wanted = self._moved(event, start, length or event.end - event.start)
            # It may be there already, by a change of ours whose answer was lost.
            if (event.start, event.end) == wanted:
                return event
            answer = await self._patch(event, wanted, etag=row.etag)
            if not answer.is_stale:
                if answer.code == "ErrorOccurrenceCrossingBoundary":
                    raise AssistantError(
                        "an occurrence cannot be moved past the next or the last of its series"
                    )
                return _needed(answer.value(), self._zone)
        raise AssistantError("the event changed again and again meanwhile; nothing was moved")

    async def delete(self, event_id: str) -> bool:
        return await self._account.delete(f"events/{segment(event_id)}", {"$select": "id"})

    async def _create_once(self, body: Json, mark: str, effect: Effect) -> Json:
        """Create an event, or return the one that carries the mark, also where it was moved."""
        look = partial(graph_account.find_marked, self._account, mark, among="events")
        if effect.is_repeated and (found := await look()) is not None:
            return found
        answer = await self._account.post("events", body, is_repeatable=True)
        if answer.code == _MADE_BEFORE:
            if (found := await graph_account.look_for(look)) is None:
                raise AssistantUnsureError("the event was made before, and is not to be found")
            return found
        return answer.value()

    async def _row(self, event_id: str) -> graph_shapes.GraphEvent | None:
        path = f"events/{segment(event_id)}"
        return await self._account.find(graph_shapes.GraphEvent, path, {"$select": _EVENT_FIELDS})

    def _moved(
        self, event: CalendarEvent, start: datetime, length: timedelta
    ) -> tuple[datetime, datetime]:
        if not event.is_all_day:
            return start, start + length
        first = start.astimezone(self._zone).date()
        last = first + (event.end.date() - event.start.date())
        return graph_shapes.midnight(first, self._zone), graph_shapes.midnight(last, self._zone)

    async def _patch(
        self, event: CalendarEvent, wanted: tuple[datetime, datetime], *, etag: str
    ) -> GraphAnswer:
        start, end = wanted
        body: Json = {"start": graph_shapes.given(start), "end": graph_shapes.given(end)}
        if event.is_all_day:
            days = [graph_shapes.given_day(at.date(), self._zone) for at in wanted]
            body = {"isAllDay": True, "start": days[0], "end": days[1]}
        path = f"events/{segment(event.id)}"
        return await self._account.patch(path, body, etag=etag)


def _needed(row: Json, zone: tzinfo) -> CalendarEvent:
    if (event := _event(graph_shapes.shaped(graph_shapes.GraphEvent, row), zone)) is None:
        raise AssistantItemGoneError("the organizer cancelled the event")
    return event


def _event(row: graph_shapes.GraphEvent, zone: tzinfo) -> CalendarEvent | None:
    """Return the event; None if its organizer cancelled it."""
    if row.is_cancelled:
        return None
    if row.is_all_day:
        start, end = (
            graph_shapes.midnight(graph_shapes.day_of(at, zone), zone)
            for at in (row.start, row.end)
        )
    else:
        start, end = (graph_shapes.moment_of(at).astimezone(zone) for at in (row.start, row.end))
    people = (one.email_address for one in row.attendees)
    return CalendarEvent(
        id=row.id,
        title=row.subject or "(no title)",
        start=start,
        end=end,
        is_all_day=row.is_all_day,
        location=row.location.display_name if row.location else "",
        attendees=tuple(one.name or one.address for one in people),
    )


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
