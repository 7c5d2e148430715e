"""Runs a tool that changes something outside: on record first, then once under its key."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from semantic_kernel.functions.function_result import FunctionResult

from data_models.effects import Begun, Effect
from data_models.identifiers import hashed
from group_chat.tools.function import checked_arguments
from group_chat.tools.result import plain
from group_chat.tools.tool import Tool
from group_chat.turn_context import TurnContext, action_key, changing

_NOTE = (
    "this is what was begun before an interruption, and now it is done; call again only for what "
    "is still missing"
)


async def run_once(
    turn: TurnContext,
    tool: Tool,
    given: Mapping[str, Any],
    *,
    call_id: str,
    run: Callable[[Mapping[str, Any]], Awaitable[FunctionResult | None]],
) -> FunctionResult | None:
    """Have `run` do what `tool` changes; with an earlier attempt's arguments, where it began that.

    Raises:
        ToolInputError: the arguments do not fit, or nobody knows what an earlier attempt did.
        StoreError: the run is not on record, so nothing was changed.
    """
    arguments = checked_arguments(tool.arguments, given).model_dump(mode="json")
    begun = await _begun(turn, tool, arguments, call_id)
    succeeded = False
    try:
        with changing(begun.effect):
            result = await run(begun.arguments)
        succeeded = True
    finally:
        if not succeeded and turn.request.effects is not None:
            turn.request.effects.failed(begun)
    if result is not None and begun.is_other:
        result.value = {**plain(result.value), "note": _NOTE}
    return result


async def _begun(
    turn: TurnContext, tool: Tool, arguments: Mapping[str, Any], call_id: str
) -> Begun:
    effects = turn.request.effects
    if effects is None:
        return Begun(Effect(action_key() or hashed(turn.request.run_id, call_id)), arguments)
    if key := action_key():
        return await effects.begin(tool.name, arguments, message=-1, key=key)
    return await effects.begin(tool.name, arguments, message=len(turn.said))
