"""What the record answers alone is fetched before the agent is asked: its first request has it."""

import json
from collections.abc import Sequence

from semantic_kernel import Kernel
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
)

from group_chat.agents import TeamAgent
from group_chat.tools.function import PLUGIN
from group_chat.turn_context import TurnContext
from services.language.chart_questions import arguments_of
from services.language.utterance import ChartQuestion

LOOK_UPS = 3
"""Calls that are made before an agent is asked; it may make more itself."""


async def look_up(agent: TeamAgent, turn: TurnContext, history: ChatHistory) -> None:
    """Make the calls that the message asks for, as if `agent` had, and add them to `history`.

    Once in a turn, by the first agent that reads the record, whichever of its tools are named;
    every call counts and is told like an agent's own. A call that fails is the agent's to report.
    """
    turn.has_looked_up = await _run(agent, history, _asked(turn, agent.name)) or turn.has_looked_up


async def look_up_step(agent: TeamAgent, turn: TurnContext, history: ChatHistory) -> None:
    """Make the call that a step of a plan begins with, and add it to `history`."""
    if agent.first_look and turn.request.patient_id is not None:
        await _run(agent, history, [ChartQuestion(agent.first_look)])


async def _run(agent: TeamAgent, history: ChatHistory, asked: Sequence[ChartQuestion]) -> bool:
    """Return whether anything was called."""
    chart = agent.chart
    calls = [] if chart is None else _calls(chart, asked)
    if chart is None or not calls:
        return False
    history.add_message(ChatMessageContent(role=AuthorRole.ASSISTANT, items=list(calls)))
    for call in calls:
        await chart.invoke_function_call(call, history, request_index=0)
    return True


def _asked(turn: TurnContext, agent: str) -> Sequence[ChartQuestion]:
    """Return what the message asks of the chart, as long as nobody has looked.

    Who guides a scenario is handed nothing: the words may answer its step, and a question beside
    it is passed on.
    """
    read = turn.request.utterance
    scenario = turn.request.scenario
    if scenario is not None and scenario.lead == agent:
        return ()
    if read is None or turn.has_looked_up or turn.request.patient_id is None:
        return ()
    return read.about[:LOOK_UPS]


def _calls(chart: Kernel, asked: Sequence[ChartQuestion]) -> list[FunctionCallContent]:
    return [
        FunctionCallContent(
            id=f"look_up_{number}",
            index=number,
            name=f"{PLUGIN}-{one.tool}",
            arguments=json.dumps(arguments_of(one), ensure_ascii=False),
        )
        for number, one in enumerate(asked)
        if _is_known(chart, one.tool)
    ]


def _is_known(chart: Kernel, tool: str) -> bool:
    plugin = chart.plugins.get(PLUGIN)
    return plugin is not None and tool in plugin.functions
