"""Tools over the user's own calendar and tasks; cancelling and deleting only ask."""

from datetime import datetime, time, timedelta

from pydantic import Field

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.own_tools import OwnTools
from group_chat.tools.personal import ROWS_SHOWN, OpenAssistant
from group_chat.tools.tool import ToolOutput
from group_chat.turn_context import current_effect
from services.assistant.calendar import NewEvent, Span, free_times
from services.assistant.tasks import NewTask
from services.language.appointment_slots import slots_in

_SPAN = timedelta(days=7)
_SPAN_LIMIT = timedelta(days=62)
_DAY_BEGINS, _DAY_ENDS = 8, 18
_SAME_TIME = "it is at that time already; say so"


class SpanArguments(ClosedValue):
    """From when to when."""

    since: str | None = Field(
        default=None, max_length=32, description="ISO, or tomorrow, Friday; now."
    )
    until: str | None = Field(
        default=None, max_length=32, description="The same; a day is included."
    )


class FreeArguments(ClosedValue):
    """How much time, on which day."""

    day: str = Field(max_length=32, description="ISO date, or tomorrow, Friday.")
    minutes: int = Field(ge=5, le=600)


class CreateArguments(ClosedValue):
    """What to put in."""

    title: str = Field(min_length=1, max_length=200)
    start: str = Field(max_length=32, description="ISO, or as Friday 15:00.")
    minutes: int = Field(default=30, ge=5, le=1_440)
    location: str = Field(default="", max_length=200)


class MoveArguments(ClosedValue):
    """Which event, and where it goes."""

    start: str = Field(
        max_length=32,
        description="New start, ISO or as the user said it (Friday, 16:00, Friday 16:00); "
        "a day alone keeps the time, a time alone the day.",
    )
    event_id: str = Field(default="", max_length=300, description="Its id, if a tool gave one.")


class CancelArguments(ClosedValue):
    """Which event."""

    event_id: str = Field(max_length=300, description='Its id as a tool gave it, or "".')


async def list_events(assistant: OpenAssistant, asked: SpanArguments) -> ToolOutput:
    """The user's own calendar."""
    since, until = assistant.span(asked.since, asked.until)
    start = since or assistant.memory.now
    end = until or start + _SPAN
    events = await assistant.services.calendar.between(start, min(end, start + _SPAN_LIMIT))
    return assistant.listed("events", events)


async def find_free_time(assistant: OpenAssistant, asked: FreeArguments) -> ToolOutput:
    """Free time in the user's working day."""
    day = assistant.day(asked.day)
    start, end = (
        datetime.combine(day, time(hour), assistant.zone) for hour in (_DAY_BEGINS, _DAY_ENDS)
    )
    events = await assistant.services.calendar.between(start, end)
    least = timedelta(minutes=asked.minutes)
    gaps = free_times(events, start=start, end=end, least=least)
    spans = [[at.astimezone(assistant.zone) for at in (gap.start, gap.end)] for gap in gaps]
    return {"free": [f"{since:%H:%M} – {until:%H:%M}" for since, until in spans]}


async def create_event(assistant: OpenAssistant, asked: CreateArguments) -> ToolOutput:
    """Puts an event into the user's calendar."""
    start = assistant.moment(asked.start)
    end = start + timedelta(minutes=asked.minutes)
    new = NewEvent(asked.title.strip(), start, end, asked.location.strip())
    made = await assistant.services.calendar.create(new, current_effect())
    await assistant.undoable("create_event", made, made)
    return {"created": await assistant.show_made(made)}


async def move_event(assistant: OpenAssistant, asked: MoveArguments) -> ToolOutput:
    """Moves the event that the user means."""
    calendar = assistant.services.calendar
    event = await assistant.meant("calendar_event", asked.event_id, calendar.get)
    if (start := assistant.moved(asked.start, event.start)) == event.start:
        raise ToolInputError(_SAME_TIME)
    moved = await calendar.move(event.id, start=start)
    await assistant.undoable("move_event", event, moved)
    return {"moved": assistant.rows([moved])}


async def cancel_event(assistant: OpenAssistant, asked: CancelArguments) -> ToolOutput:
    """Asks the user to confirm that the event they mean is cancelled."""
    meant = await assistant.all_meant(
        "calendar_event", asked.event_id, assistant.services.calendar.get
    )
    return assistant.ask_first("cancel_event", meant)


CALENDAR = OwnTools(
    (list_events, find_free_time), changes=(create_event, move_event), asks=(cancel_event,)
)


# Tools over the user's own tasks; deleting only asks.


class TaskSpanArguments(ClosedValue):
    """Which tasks."""

    since: str | None = Field(default=None, max_length=32, description="Due on that day or later.")
    until: str | None = Field(default=None, max_length=32, description="Last due date, included.")
    include_done: bool = False


class AddTaskArguments(ClosedValue):
    """What to remember."""

    title: str = Field(min_length=1, max_length=200)
    due: str | None = Field(
        default=None, max_length=32, description="ISO date, or tomorrow, Friday."
    )
    notes: str = Field(default="", max_length=2_000)


class TaskArguments(ClosedValue):
    """Which task."""

    task_id: str = Field(default="", max_length=500, description="Its id, if a tool gave one.")


class MoveTaskArguments(ClosedValue):
    """Which task, and its new date."""

    due: str = Field(max_length=32, description='ISO date, or Friday; "" for none.')
    task_id: str = Field(default="", max_length=500, description="Its id, if a tool gave one.")


def _title(asked: AddTaskArguments) -> str:
    """Return the title; a task has a day and no hour, so an hour that was wished stands in it."""
    title = " ".join(asked.title.split())
    hour = slots_in(asked.due or "", is_booking=True).get("time_preference")
    return title if hour is None or hour in title else f"{title} ({hour})"


async def list_tasks(assistant: OpenAssistant, asked: TaskSpanArguments) -> ToolOutput:
    """The user's own tasks."""
    due = Span(
        None if asked.since is None else assistant.day(asked.since),
        None if asked.until is None else assistant.day(asked.until, ends=True),
    )
    found = await assistant.services.tasks.list(
        due=due, include_done=asked.include_done, limit=ROWS_SHOWN + 1
    )
    return assistant.listed("tasks", found)


async def add_task(assistant: OpenAssistant, asked: AddTaskArguments) -> ToolOutput:
    """Adds a task of the user's."""
    due = None if not asked.due else assistant.day(asked.due)
    new = NewTask(title=_title(asked), due=due, notes=asked.notes)
    made = await assistant.services.tasks.add(new, current_effect())
    await assistant.undoable("add_task", made, made)
    return {"added": await assistant.show_made(made)}


async def complete_task(assistant: OpenAssistant, asked: TaskArguments) -> ToolOutput:
    """Marks the task the user means as done."""
    tasks = assistant.services.tasks
    meant = await assistant.all_meant("task", asked.task_id, tasks.get, asks_first=False)
    if len(meant) > 1:
        return assistant.ask_first("complete_task", meant)
    done = await tasks.complete(meant[0].id)
    await assistant.undoable("complete_task", meant[0], done)
    return {"done": assistant.rows([done])}


async def move_task(assistant: OpenAssistant, asked: MoveTaskArguments) -> ToolOutput:
    """Gives the task another due date."""
    task = await assistant.meant("task", asked.task_id, assistant.services.tasks.get)
    due = None if not asked.due else assistant.day(asked.due)
    if due == task.due:
        raise ToolInputError(_SAME_TIME)
    moved = await assistant.services.tasks.move(task.id, due=due)
    await assistant.undoable("move_task", task, moved)
    return {"moved": assistant.rows([moved])}


async def delete_task(assistant: OpenAssistant, asked: TaskArguments) -> ToolOutput:
    """Asks the user to confirm that the task they mean is deleted."""
    meant = await assistant.all_meant("task", asked.task_id, assistant.services.tasks.get)
    return assistant.ask_first("delete_task", meant)


TASKS = OwnTools((list_tasks,), changes=(add_task, complete_task, move_task), asks=(delete_task,))
