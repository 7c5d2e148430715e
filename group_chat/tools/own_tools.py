"""Tools over what is a user's own, made of functions of their assistant."""

from collections.abc import Awaitable, Callable
from functools import wraps
from itertools import chain
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import Field

from group_chat.tools.personal import PersonalAssistant
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import TurnContext

Day: TypeAlias = Annotated[str | None, Field(max_length=32)]
Title: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
OwnId: TypeAlias = Annotated[str, Field(max_length=500, description="Its id, if a tool gave one.")]
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
        return await run(await office.open(turn, changes=changes), **asked)

    return open_first
