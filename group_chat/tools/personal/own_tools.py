"""Tools over what is a user's own, made of functions of their assistant."""

from collections.abc import Awaitable, Callable
from functools import wraps
from itertools import chain
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import Field

from data_models.errors import ToolInputError
from group_chat.drafts.said_before import is_of_talk
from group_chat.tools.personal.personal import PersonalAssistant
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext

Day: TypeAlias = Annotated[str | None, Field(max_length=32)]
Title: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
OwnId: TypeAlias = Annotated[str, Field(max_length=500, description="Its id, if a tool gave one.")]
_WRITTEN = ("title", "notes", "location", "name", "email", "phone", "organization")
_NOT_SAID = "the user did not say that {fields}; nothing is done; use the user's own words"
_Run: TypeAlias = Callable[..., Awaitable[ToolOutput]]


class OwnTools(NamedTuple):
    """Tools over one kind of what is a user's own, as functions of the assistant of the turn.

    Attributes:
        changes: What makes or changes something at once.
        asks: What only asks for a yes to that.
    """

    reads: tuple[_Run, ...]
    changes: tuple[_Run, ...] = ()
    asks: tuple[_Run, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, as models call them."""
        return tuple(run.__name__ for run in chain(*self))

    def over(self, office: PersonalAssistant) -> tuple[Tool, ...]:
        """Return the tools over the own things of whoever asks."""
        return (
            *tools_of(*(_opened(office, run, changes=False) for run in self.reads)),
            *tools_of(*(_opened(office, run, changes=True) for run in self.changes), changes=True),
            *tools_of(*(_opened(office, run, changes=True) for run in self.asks)),
        )


def _opened(
    office: PersonalAssistant, run: _Run, *, changes: bool
) -> Callable[..., Awaitable[ToolOutput]]:
    @wraps(run)
    async def open_first(turn: TurnContext, **asked: Any) -> ToolOutput:
        assistant = await office.open(turn, changes=changes)
        # What is written to others is the model's to word: it is read before it is sent.
        own = _WRITTEN if changes and "to" not in asked else ()
        if unsaid := [one for one in own if not is_of_talk(str(asked.get(one) or ""), turn)]:
            raise ToolInputError(_NOT_SAID.format(fields=" and ".join(unsaid)))
        return await run(assistant, **asked)

    return open_first
