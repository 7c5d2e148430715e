"""Runs a tool for a scenario's step, through the kernel that agents' calls go through."""

import json
from collections.abc import Mapping

from semantic_kernel.contents import ChatHistory, FunctionCallContent

from group_chat.tools.function import PLUGIN
from group_chat.tools.kernel import ToolKernel
from group_chat.turn_context import TurnContext, acting_under
from services.scenarios.session.action import ToolAction, ToolRan


async def run_action(tool_kernel: ToolKernel, turn: TurnContext, action: ToolAction) -> ToolRan:
    """Return what the tool gave; it is counted, bounded, recorded and audited."""
    failed_before, ran_before, asked_before = turn.tools_failed, len(turn.ran), turn.questions
    with acting_under(action.idempotency_key):
        await tool_kernel.invoke_function_call(
            FunctionCallContent(
                id=action.idempotency_key,
                name=f"{PLUGIN}-{action.tool}",
                arguments=json.dumps(dict(action.parameters)),
            ),
            ChatHistory(),
        )
    ran = turn.ran[ran_before:]
    data = ran[-1].data if ran else None
    return ToolRan(
        succeeded=turn.tools_failed == failed_before,
        data=data if isinstance(data, Mapping) else {},
        has_asked=turn.questions > asked_before,
    )
