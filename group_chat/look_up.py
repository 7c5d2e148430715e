"""What the record answers alone is fetched before the agent is asked: its first request has it."""

import json
from collections.abc import Sequence

from semantic_kernel import Kernel
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
)

from group_chat.agents import TeamAgent
from group_chat.tools.function import PLUGIN
from group_chat.turn_context import TurnContext
from services.language.question_figures import arguments_of
from services.language.utterance import ChartQuestion

LOOK_UPS = 3
"""Calls that are made before an agent is asked; it may make more itself."""


async def look_up(agent: TeamAgent, turn: TurnContext, history: ChatHistory) -> bool:
    """Make the calls that the message asks for, as if `agent` had, and add them to `history`.

    Once in a turn, by the first agent that reads the record, whichever of its tools are named;
    every call counts and is told like an agent's own. A call that fails is the agent's to report.
    Returns whether any was made; what they gave is in `turn.looked`.
    """
    has_looked = await _run(agent, turn, history, _asked(turn, agent))
    turn.has_looked_up = has_looked or turn.has_looked_up
    return has_looked


async def look_up_more(
    agent: TeamAgent, turn: TurnContext, history: ChatHistory, question: ChartQuestion
) -> bool:
    """Make one more call; whether the tool for it is at hand."""
    return await _run(agent, turn, history, [question])


async def look_up_step(agent: TeamAgent, turn: TurnContext, history: ChatHistory) -> None:
    """Make the call that a step of a plan begins with, and add it to `history`."""
    if agent.first_look and turn.request.patient_id is not None:
        await _run(agent, turn, history, [ChartQuestion(agent.first_look)])


async def _run(
    agent: TeamAgent, turn: TurnContext, history: ChatHistory, asked: Sequence[ChartQuestion]
) -> bool:
    """Return whether anything was called."""
    chart = agent.chart
    asked = [one for one in asked if chart is not None and _is_known(chart, one)]
    calls = _calls(asked)
    if chart is None or not calls:
        return False
    history.add_message(ChatMessageContent(role=AuthorRole.ASSISTANT, items=list(calls)))
    for question, call in zip(asked, calls, strict=True):
        known = len(turn.views)
        await chart.invoke_function_call(call, history, request_index=0)
        given = turn.views[-1] if turn.views[known:] else _problem(history.messages[-1])
        turn.looked.append((question, given))
    return True


def _problem(message: ChatMessageContent) -> str:
    """Return what was wrong where a tool gave no rows."""
    results = [one for one in message.items if isinstance(one, FunctionResultContent)]
    try:
        said = json.loads(str(results[-1].result)) if results else {}
    except json.JSONDecodeError:
        return ""
    return str(said.get("error", "")) if isinstance(said, dict) else ""


def _asked(turn: TurnContext, agent: TeamAgent) -> Sequence[ChartQuestion]:
    """Return what the message asks of the chart, as long as nobody has looked.

    Who guides a scenario is handed nothing: the words may answer its step, and a question beside
    it is passed on.
    """
    read = turn.request.utterance
    scenario = turn.request.scenario
    if scenario is not None and scenario.lead == agent.name:
        return ()
    if read is None or turn.has_looked_up or turn.request.patient_id is None:
        return ()
    first = [asked for one in read.about for asked in (one.around or (one,))]
    return first[:LOOK_UPS]


def _calls(asked: Sequence[ChartQuestion]) -> list[FunctionCallContent]:
    return [
        FunctionCallContent(
            id=f"look_up_{number}",
            index=number,
            name=f"{PLUGIN}-{one.tool}",
            arguments=json.dumps(arguments_of(one), ensure_ascii=False),
        )
        for number, one in enumerate(asked)
    ]


def _is_known(chart: Kernel, question: ChartQuestion) -> bool:
    plugin = chart.plugins.get(PLUGIN)
    return plugin is not None and question.tool in plugin.functions
