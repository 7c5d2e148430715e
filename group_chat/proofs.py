"""Looks up what a statement speaks of before anybody calls it unsupported (spec page 11.3).

A model may say what it read in an earlier turn, or has from the snapshot: whether the record says
so is known only once it was looked up.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from semantic_kernel.contents import ChatHistory

from group_chat.agents import TeamAgent
from group_chat.drafts.draft import Draft
from group_chat.tools.function import calls_of
from group_chat.tools.kernel import ToolKernel
from group_chat.turn_context import CallsMade, TurnContext, enter_turn, leave_turn
from services.language.questions.question_figures import arguments_of
from services.language.utterance import ChartQuestion


async def prove(agent: TeamAgent, draft: Draft, turn: TurnContext) -> None:
    """Show what `draft` holds back until the rows behind it are looked up, sentence by sentence."""
    while asked := draft.waits_for:
        if agent.chart is not None:
            # A task of its own: its calls are neither the model's nor counted as such.
            await asyncio.create_task(_look_up(agent.chart, turn, asked))
        draft.resume()


async def _look_up(chart: ToolKernel, turn: TurnContext, asked: Sequence[ChartQuestion]) -> None:
    beside = replace(turn.beside_others(turn.agent), calls=CallsMade(), proofs=[])
    asked = [one for one in asked if one.tool in chart.tools]
    current = enter_turn(beside)
    try:
        for call in calls_of(((one.tool, arguments_of(one)) for one in asked), "proof"):
            await chart.invoke_function_call(call, ChatHistory(), request_index=0)
    finally:
        leave_turn(current)
    turn.sources.update(beside.sources)
    turn.proofs += beside.views
    for file in beside.unfiled:
        if turn.works_beside_others:
            turn.unfiled.append(file)
        else:
            await file(turn)
