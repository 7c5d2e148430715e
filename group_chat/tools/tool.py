"""A tool: what a model is told of it, and what runs."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.turn_context import TurnContext

ToolOutput: TypeAlias = BaseModel | Mapping[str, Any]


class _Whatever(BaseModel):
    """Arguments of a tool that has nothing to do with them."""


class NoArguments(ClosedValue):
    """For tools that need none: the patient comes from the turn."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry of the catalogue.

    Attributes:
        name: As in `team.yaml` and on the wire.
        description: For the model: what it gives, in one or two sentences.
        arguments: Shape of its arguments; never holds a patient.
        run: Called with the turn and a checked instance of `arguments`. May raise
            `ToolInputError`, `RecordsError` and `StoreError`.
        ends_message: Whether its success ends the agent's message.
        changes: Whether it changes something beside the patient's document, which is stored with
            the turn. Such a run is on record before it begins, and does it once under the key of
            `current_effect`, however often the turn is attempted.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[TurnContext, Any], Awaitable[ToolOutput]]
    ends_message: bool = False
    changes: bool = False


def tools_of(
    *runs: Callable[..., Awaitable[ToolOutput]], changes: bool = False, ends_message: bool = False
) -> tuple[Tool, ...]:
    """Return each of `runs` as a tool: its name, what its docstring says, what it takes last."""
    return tuple(
        Tool(
            name=run.__name__,
            description=" ".join((inspect.getdoc(run) or "").split()),
            arguments=[*inspect.signature(run).parameters.values()][-1].annotation,
            run=run,
            changes=changes,
            ends_message=ends_message,
        )
        for run in runs
    )


def refusing_tools(names: Iterable[str], why: str) -> list[Tool]:
    """Return tools of these names for a server that has nothing to run them: they say why."""

    async def refuse(_: TurnContext, __: BaseModel) -> ToolOutput:
        raise ToolInputError(why)

    return [Tool(name, "Not connected.", _Whatever, refuse) for name in names]
