"""Tools over the user's own tasks; deleting only asks."""

from pydantic import Field

from data_models.values import ClosedValue
from group_chat.tools.personal import ROWS_SHOWN, PersonalAssistant
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext
from services.assistant.tasks import NewTask
from services.language.appointment_slots import slots_in

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
        *tools_of(own.list_tasks, own.delete_task),
        *tools_of(own.add_task, own.complete_task, own.move_task, changes=True),
    )
