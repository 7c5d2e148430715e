"""A tool: what a model is told of it, and what runs."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MethodType
from typing import Any, TypeAlias

from pydantic import BaseModel, create_model

from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.turn_context import TurnContext

ToolOutput: TypeAlias = BaseModel | Mapping[str, Any]


class _Whatever(BaseModel):
    """Arguments of a tool that has nothing to do with them."""


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
    """Return each of `runs` as a tool: its name, its docstring, what it takes after the turn."""
    return tuple(_tool_of(run, changes=changes, ends_message=ends_message) for run in runs)


def _tool_of(
    run: Callable[..., Awaitable[ToolOutput]], *, changes: bool, ends_message: bool
) -> Tool:
    async def run_with(turn: TurnContext, asked: BaseModel) -> ToolOutput:
        return await run(turn, **dict(asked))

    written, before = inspect.unwrap(run), 1
    if isinstance(written, MethodType):
        written, before = written.__func__, 2
    description = " ".join((inspect.getdoc(run) or "").split())
    arguments = _arguments_of(written, before)
    return Tool(run.__name__, description, arguments, run_with, ends_message, changes)


@lru_cache(maxsize=256)
def _arguments_of(run: Callable[..., Any], before: int) -> type[BaseModel]:
    """Return the parameters of `run` behind the first ones as a model that refuses all others."""
    taken: Any = {
        one.name: (one.annotation, ... if one.default is one.empty else one.default)
        for one in [*inspect.signature(run).parameters.values()][before:]
    }
    shape: type[BaseModel] = create_model(run.__name__, __base__=ClosedValue, **taken)
    return shape


def refusing_tools(names: Iterable[str], why: str) -> list[Tool]:
    """Return tools of these names for a server that has nothing to run them: they say why."""

    async def refuse(_: TurnContext, __: BaseModel) -> ToolOutput:
        raise ToolInputError(why)

    return [Tool(name, "Not connected.", _Whatever, refuse) for name in names]
