"""Runs a tool for a scenario's step, through the kernel that agents' calls go through."""

import json

from semantic_kernel.contents import ChatHistory, FunctionCallContent

from group_chat.tools.function import PLUGIN
from group_chat.tools.kernel import ToolKernel
from group_chat.turn_context import TurnContext, acting_under
from services.scenarios.session.action import ToolAction


async def run_action(house: ToolKernel, turn: TurnContext, action: ToolAction) -> bool:
    """Return whether the tool gave a result; it is counted, bounded, recorded and audited."""
    failed_before = turn.tools_failed
    with acting_under(action.idempotency_key):
        await house.invoke_function_call(
            FunctionCallContent(
                id=action.idempotency_key,
                name=f"{PLUGIN}-{action.tool}",
                arguments=json.dumps(dict(action.parameters)),
            ),
            ChatHistory(),
        )
    return turn.tools_failed == failed_before
