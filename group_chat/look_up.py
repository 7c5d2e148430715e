"""What the record answers alone is fetched before the agent is asked: its first request has it."""

import json

from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
)

from group_chat.agents import TeamAgent
from group_chat.tools.function import PLUGIN, ToolFunction
from group_chat.turn_context import TurnContext
from services.language.chart_questions import arguments_of

LOOK_UPS = 3
"""Calls that are made before an agent is asked; it may make more itself."""


async def look_up(agent: TeamAgent, turn: TurnContext, history: ChatHistory) -> None:
    """Make the calls that the message asks for, as if `agent` had, and add them to `history`.

    Once in a turn, by the first agent that has such tools; every call counts and is told like an
    agent's own. A call that fails is the agent's to report.
    """
    calls = _calls(agent, turn)
    if not calls:
        return
    turn.has_looked_up = True
    history.add_message(ChatMessageContent(role=AuthorRole.ASSISTANT, items=list(calls)))
    for call in calls:
        await agent.kernel.invoke_function_call(call, history, request_index=0)


def _calls(agent: TeamAgent, turn: TurnContext) -> list[FunctionCallContent]:
    read = turn.request.utterance
    if read is None or turn.has_looked_up or turn.request.patient_id is None:
        return []
    return [
        FunctionCallContent(
            id=f"look_up_{number}",
            index=number,
            name=f"{PLUGIN}-{asked.tool}",
            arguments=json.dumps(arguments_of(asked), ensure_ascii=False),
        )
        for number, asked in enumerate(read.about[:LOOK_UPS])
        if _is_reading(agent, asked.tool)
    ]


def _is_reading(agent: TeamAgent, tool: str) -> bool:
    """Whether `agent` has the tool, and it changes nothing."""
    plugin = agent.kernel.plugins.get(PLUGIN)
    function = plugin.functions.get(tool) if plugin is not None else None
    return isinstance(function, ToolFunction) and not function.tool.changes
