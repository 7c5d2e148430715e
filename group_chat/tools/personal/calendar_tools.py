"""Tools over the user's own calendar and tasks; cancelling and deleting only ask."""

from datetime import UTC, datetime, time, timedelta

from pydantic import Field

from data_models.errors import ToolInputError
from group_chat.tools.personal.personal import (
    ROWS_SHOWN,
    Day,
    OpenAssistant,
    OwnId,
    OwnTools,
    Title,
)
from group_chat.tools.tool import ToolOutput
from group_chat.turn_context import current_effect
from services.assistant.own_things import CalendarEvent, NewEvent, Span, Task, free_times
from services.language.pointing.when import when_of
from services.language.requests.clock import part_of_day_in
from services.language.words.folding import words_of
from services.language.words.statement_tables import stem

_SPAN = timedelta(days=7)
_SPAN_LIMIT = timedelta(days=62)
_DAY_BEGINS, _DAY_ENDS = 8, 18
_ANY_MOMENT = datetime(2026, 1, 5, 9, tzinfo=UTC)
_SAME_TIME = "it is at that time already; say so"


async def list_events(
    assistant: OpenAssistant,
    since: Day = Field(default=None, description="ISO, or tomorrow, Friday; now."),
    until: Day = Field(default=None, description="The same; a day is included."),
    words: str = Field(default="", max_length=200, description="In its title."),
) -> ToolOutput:
    """The user's own calendar."""
    events = list[CalendarEvent]()
    for first, last in assistant.spans(since, until):
        start = first or assistant.memory.now
        end = min(last or start + _SPAN, start + _SPAN_LIMIT)
        events += await assistant.services.calendar.between(start, end)
    wanted = {*map(stem, words_of(words))}
    named = [one for one in events if wanted <= {*map(stem, words_of(one.title))}]
    return assistant.listed("events", named or events)


async def find_free_time(
    assistant: OpenAssistant,
    day: str = Field(max_length=32, description="ISO date, or tomorrow, Friday."),
    minutes: int = Field(ge=5, le=600),
) -> ToolOutput:
    """Free time in the user's working day."""
    meant = assistant.day(day)
    start, end = (
        datetime.combine(meant, time(hour), assistant.zone) for hour in (_DAY_BEGINS, _DAY_ENDS)
    )
    events = await assistant.services.calendar.between(start, end)
    least = timedelta(minutes=minutes)
    gaps = free_times(events, start=start, end=end, least=least)
    spans = [[at.astimezone(assistant.zone) for at in (gap.start, gap.end)] for gap in gaps]
    told = [f"{since:%H:%M} – {until:%H:%M}" for since, until in spans]
    return {"day": meant.isoformat(), "free": told}


async def create_event(
    assistant: OpenAssistant,
    title: Title,
    start: str = Field(max_length=48, description="ISO, or as Friday 15:00."),
    minutes: int = Field(default=30, ge=5, le=1_440),
    location: str = Field(default="", max_length=200),
) -> ToolOutput:
    """Puts an event into the user's calendar."""
    begins = assistant.begin(start)
    ends = begins + timedelta(minutes=minutes)
    new = NewEvent(title.strip(), begins, ends, location.strip())
    made = await assistant.services.calendar.create(new, current_effect())
    await assistant.undoable("create_event", None, made)
    return {"created": await assistant.show_made(made)}


async def move_event(
    assistant: OpenAssistant,
    start: str = Field(
        max_length=48,
        description="New start, ISO or as the user said it (Friday, 16:00, Friday 16:00); "
        "a day alone keeps the time, a time alone the day; or how long: 2 to 3, 10 minutes longer.",
    ),
    event_id: str = Field(default="", max_length=300, description="Its id, if a tool gave one."),
) -> ToolOutput:
    """Moves the event that the user means, or changes how long it is."""
    calendar = assistant.services.calendar
    event = await assistant.meant("calendar_event", event_id, calendar.get)
    begins = assistant.moved(start, event.start)
    length = assistant.lasting(start, event.end - event.start)
    if (begins, begins + length) == (event.start, event.end):
        raise ToolInputError(_SAME_TIME)
    moved = await calendar.move(event.id, start=begins, length=length)
    await assistant.undoable("move_event", event, moved)
    return {"moved": assistant.rows([moved])}


async def cancel_event(
    assistant: OpenAssistant,
    event_id: str = Field(max_length=300, description='Its id as a tool gave it, or "".'),
) -> ToolOutput:
    """Asks the user to confirm that the event they mean is cancelled."""
    meant = await assistant.all_meant("calendar_event", event_id, assistant.services.calendar.get)
    return assistant.ask_first("cancel_event", meant)


CALENDAR = OwnTools(
    (list_events, find_free_time), changes=(create_event, move_event), asks=(cancel_event,)
)


# Tools over the user's own tasks; deleting only asks.


def _title(said: str, due: str | None, now: datetime) -> str:
    """Return the title; a task has a day and no hour, so an hour that was wished stands in it."""
    title, due = " ".join(said.split()), due or ""
    when = when_of(due, now)
    minute = None if when is None else when.minute
    hour = None if minute is None else f"{minute // 60:02}:{minute % 60:02}"
    if hour is None and part_of_day_in(due) is not None:
        hour = " ".join(one for one in due.split() if not _is_day(one))
    if hour is None or hour in title:
        return title
    name, _, last = title.rpartition(" (")
    told = last[:-1]
    is_hour = told.replace(":", "").isdigit() or part_of_day_in(told) is not None
    has_other = last.endswith(")") and is_hour
    return f"{name if has_other else title} ({hour})"


def _is_day(word: str) -> bool:
    said = when_of(word, _ANY_MOMENT)
    return said is not None and said.first is not None and part_of_day_in(word) is None


async def list_tasks(
    assistant: OpenAssistant,
    since: Day = Field(default=None, description="Due on that day or later."),
    until: Day = Field(default=None, description="Last due date, included."),
    include_done: bool = False,
) -> ToolOutput:
    """The user's own tasks."""
    found, limit = list[Task](), ROWS_SHOWN + 1
    for span in assistant.spans(since, until):
        first, last = (one and one.astimezone(assistant.zone).date() for one in span)
        found += await assistant.services.tasks.list(
            due=Span(first, last), include_done=include_done, limit=limit
        )
    return assistant.listed("tasks", found)


async def add_task(
    assistant: OpenAssistant,
    title: Title,
    due: Day = Field(default=None, description="ISO date, or tomorrow, Friday."),
    notes: str = Field(default="", max_length=2_000),
) -> ToolOutput:
    """Adds a task of the user's."""
    day = None if not due else assistant.day(due, is_ahead=True)
    new = Task(title=_title(title, due, assistant.memory.now), due=day, notes=notes)
    made = await assistant.services.tasks.add(new, current_effect())
    await assistant.undoable("add_task", None, made)
    return {"added": await assistant.show_made(made)}


async def complete_task(assistant: OpenAssistant, task_id: OwnId = "") -> ToolOutput:
    """Marks the task the user means as done."""
    tasks = assistant.services.tasks
    meant = await assistant.all_meant("task", task_id, tasks.get, asks_first=False)
    if len(meant) > 1:
        return assistant.ask_first("complete_task", meant)
    done = await tasks.complete(meant[0].id)
    await assistant.undoable("complete_task", meant[0], done)
    return {"done": assistant.rows([done])}


async def move_task(
    assistant: OpenAssistant,
    due: str = Field(max_length=32, description='ISO date, Friday or Friday 9:00; "" for none.'),
    task_id: OwnId = "",
) -> ToolOutput:
    """Gives the task another due date, or another hour in its title."""
    task = await assistant.meant("task", task_id, assistant.services.tasks.get)
    now, day = assistant.memory.now, task.due
    due = f"at {due}" if due.strip().isdigit() else due  # "to 3"
    said, title = when_of(due, now), _title(task.title, due, now)
    if said is None and due:
        at = datetime.combine(day or now.date(), time()) + assistant.shift(due)
        hour = when_of(task.title[-len("09:00)") : -1], now)
        if hour is not None and hour.minute is not None:
            at += timedelta(minutes=hour.minute)
            title = _title(task.title, f"at {at:%H:%M}", now)
        day = None if day is None else at.date()
    elif said is None or said.first is not None:
        day = None if not due else assistant.day(due, is_ahead=True)
    if (day, title) == (task.due, task.title):
        raise ToolInputError(_SAME_TIME)
    moved = await assistant.services.tasks.move(task.id, due=day, title=title)
    await assistant.undoable("move_task", task, moved)
    return {"moved": assistant.rows([moved])}


async def delete_task(assistant: OpenAssistant, task_id: OwnId = "") -> ToolOutput:
    """Asks the user to confirm that the task they mean is deleted."""
    meant = await assistant.all_meant("task", task_id, assistant.services.tasks.get)
    return assistant.ask_first("delete_task", meant)


TASKS = OwnTools((list_tasks,), changes=(add_task, complete_task, move_task), asks=(delete_task,))
