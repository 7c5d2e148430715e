"""Tools over the user's own calendar and tasks; cancelling and deleting only ask."""

from datetime import datetime, time, timedelta

from pydantic import Field

from data_models.values import ClosedValue
from group_chat.tools.personal import ROWS_SHOWN, PersonalAssistant
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.assistant.calendar import NewEvent, free_times
from services.assistant.tasks import NewTask
from services.language.appointment_slots import slots_in

CALENDAR_TOOLS = ("list_events", "find_free_time", "create_event", "move_event", "cancel_event")
_SPAN = timedelta(days=7)
_SPAN_LIMIT = timedelta(days=62)
_DAY_BEGINS, _DAY_ENDS = 8, 18


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


class CalendarTools:
    """Works on the calendar of whoever asks."""

    def __init__(self, *, assistant: PersonalAssistant) -> None:
        self._assistant = assistant

    async def list_events(self, turn: TurnContext, asked: SpanArguments) -> ToolOutput:
        """The user's own calendar."""
        assistant = await self._assistant.open(turn)
        since, until = assistant.span(asked.since, asked.until)
        start = since or assistant.memory.now
        end = until or start + _SPAN
        events = await assistant.services.calendar.between(start, min(end, start + _SPAN_LIMIT))
        return assistant.listed("events", events)

    async def find_free_time(self, turn: TurnContext, asked: FreeArguments) -> ToolOutput:
        """Free time in the user's working day."""
        assistant = await self._assistant.open(turn)
        day = assistant.day(asked.day)
        start, end = (
            datetime.combine(day, time(hour), assistant.zone) for hour in (_DAY_BEGINS, _DAY_ENDS)
        )
        events = await assistant.services.calendar.between(start, end)
        least = timedelta(minutes=asked.minutes)
        gaps = free_times(events, start=start, end=end, least=least)
        spans = [[at.astimezone(assistant.zone) for at in (gap.start, gap.end)] for gap in gaps]
        return {"free": [f"{since:%H:%M} – {until:%H:%M}" for since, until in spans]}

    async def create_event(self, turn: TurnContext, asked: CreateArguments) -> ToolOutput:
        """Puts an event into the user's calendar."""
        assistant = await self._assistant.open(turn, changes=True)
        start = assistant.moment(asked.start)
        end = start + timedelta(minutes=asked.minutes)
        new = NewEvent(asked.title.strip(), start, end, asked.location.strip())
        return {
            "created": await assistant.show_made(
                await assistant.services.calendar.create(new, assistant.effect)
            )
        }

    async def move_event(self, turn: TurnContext, asked: MoveArguments) -> ToolOutput:
        """Moves the event that the user means."""
        assistant = await self._assistant.open(turn, changes=True)
        calendar = assistant.services.calendar
        event = await assistant.meant("calendar_event", asked.event_id, calendar.get)
        moved = await calendar.move(event.id, start=assistant.moved(asked.start, event.start))
        await assistant.undoable("move_event", event, moved)
        return {"moved": assistant.rows([moved])}

    async def cancel_event(self, turn: TurnContext, asked: CancelArguments) -> ToolOutput:
        """Asks the user to confirm that the event they mean is cancelled."""
        assistant = await self._assistant.open(turn, changes=True)
        meant = await assistant.all_meant(
            "calendar_event", asked.event_id, assistant.services.calendar.get
        )
        return assistant.ask_first("cancel_event", meant)


def calendar_tools(assistant: PersonalAssistant) -> tuple[Tool, ...]:
    """Return the tools over the calendar of whoever asks."""
    own = CalendarTools(assistant=assistant)
    return (
        *tools_of(own.list_events, own.find_free_time),
        *tools_of(own.create_event, own.move_event, changes=True),
        *tools_of(own.cancel_event),
    )


# Tools over the user's own tasks; deleting only asks.

TASK_TOOLS = ("list_tasks", "add_task", "complete_task", "move_task", "delete_task")


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


class TaskTools:
    """Works on the tasks of whoever asks."""

    def __init__(self, *, assistant: PersonalAssistant) -> None:
        self._assistant = assistant

    async def list_tasks(self, turn: TurnContext, asked: TaskSpanArguments) -> ToolOutput:
        """The user's own tasks."""
        assistant = await self._assistant.open(turn)
        found = await assistant.services.tasks.list(
            since=None if asked.since is None else assistant.day(asked.since),
            until=None if asked.until is None else assistant.day(asked.until, ends=True),
            include_done=asked.include_done,
            limit=ROWS_SHOWN + 1,
        )
        return assistant.listed("tasks", found)

    async def add_task(self, turn: TurnContext, asked: AddTaskArguments) -> ToolOutput:
        """Adds a task of the user's."""
        assistant = await self._assistant.open(turn, changes=True)
        due = None if not asked.due else assistant.day(asked.due)
        new = NewTask(title=_title(asked), due=due, notes=asked.notes)
        return {
            "added": await assistant.show_made(
                await assistant.services.tasks.add(new, assistant.effect)
            )
        }

    async def complete_task(self, turn: TurnContext, asked: TaskArguments) -> ToolOutput:
        """Marks the task the user means as done."""
        assistant = await self._assistant.open(turn, changes=True)
        tasks = assistant.services.tasks
        meant = await assistant.all_meant("task", asked.task_id, tasks.get, asks_first=False)
        if len(meant) > 1:
            return assistant.ask_first("complete_task", meant)
        done = await tasks.complete(meant[0].id)
        await assistant.undoable("complete_task", meant[0], done)
        return {"done": assistant.rows([done])}

    async def move_task(self, turn: TurnContext, asked: MoveTaskArguments) -> ToolOutput:
        """Gives the task another due date."""
        assistant = await self._assistant.open(turn, changes=True)
        task = await assistant.meant("task", asked.task_id, assistant.services.tasks.get)
        due = None if not asked.due else assistant.day(asked.due)
        moved = await assistant.services.tasks.move(task.id, due=due)
        await assistant.undoable("move_task", task, moved)
        return {"moved": assistant.rows([moved])}

    async def delete_task(self, turn: TurnContext, asked: TaskArguments) -> ToolOutput:
        """Asks the user to confirm that the task they mean is deleted."""
        assistant = await self._assistant.open(turn, changes=True)
        meant = await assistant.all_meant("task", asked.task_id, assistant.services.tasks.get)
        return assistant.ask_first("delete_task", meant)


def task_tools(assistant: PersonalAssistant) -> tuple[Tool, ...]:
    """Return the tools over the tasks of whoever asks."""
    own = TaskTools(assistant=assistant)
    return (
        *tools_of(own.list_tasks),
        *tools_of(own.add_task, own.complete_task, own.move_task, changes=True),
        *tools_of(own.delete_task),
    )
