"""The messages of a prompt, marked as data; the JSON of older prompts; and whose move it is.

The controller says whose, and between several addressed agents a model.
"""

import re
from collections.abc import Sequence
from contextlib import suppress

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import AuthorRole, ChatHistory, ChatMessageContent, TextContent

from data_models.chat_context import AgentMessage
from data_models.conversations.plan import Plan
from data_models.errors import ModelOutputError, ModelRefusedError, ToolInputError
from group_chat.models.dialect import CUE
from group_chat.speakers.speaker_state import Ask, AskOneOf, Cue
from group_chat.speakers.turn_controller import TurnController
from group_chat.turn_context import TurnContext
from group_chat.window import Line, line_of, meaning_line, summary_line
from services.group_chat_port import GroupChatRequest
from services.language.model_output.hand_over import last_line
from services.patient_context.reading.snapshot import neutralise


def findings_of(plan: Plan, turn: TurnContext) -> list[AgentMessage]:
    """Return the messages of the plan's steps, of this turn and earlier ones, as they were shown.

    A step that was done again counts as it was done last.
    """
    said = [message for earlier in turn.request.history for message in earlier.agent_responses]
    of_step = {
        message.plan_step: message
        for message in [*said, *turn.said]
        if message.plan_id == plan.plan_id
    }
    return [of_step[step.number] for step in plan.steps if step.number in of_step]


def lines_to_close(plan: Plan, turn: TurnContext, *, facilitator: str) -> list[Line]:
    """Return what every step found, whole, and which steps nobody carried out."""
    found = [line_of(one.agent, one.text) for one in findings_of(plan, turn)]
    missed = [f"- {step.agent}: {step.text}" for step in plan.steps if step.status == "skipped"]
    if missed:
        found.append(line_of(facilitator, "\n".join(["Steps that nobody carried out:", *missed])))
    return found


def lines_built_on(plan: Plan, turn: TurnContext, *, agent: str) -> list[Line]:
    """Return what the steps found that `agent`'s steps build on: nobody else's words."""
    needed = {number for step in plan.steps if step.agent == agent for number in step.after}
    found = findings_of(plan, turn)
    return [line_of(one.agent, one.text) for one in found if one.plan_step in needed]


CUE_NAME, HANDS_BACK_TO = "rounds_cue", "rounds_back_to"
"""Metadata of a cue: its name, and whom a step goes back to."""
_STEP = (
    "It is your turn, {agent}. Carry out the step that was just called, using your tools. Return "
    "your findings, a line each: what, value, date, [source]; say what is missing or differs. "
    "Then end with this line: Back to you *{facilitator}*."
)
_OWN_STEP = "It is your turn, {agent}. Carry out the step that was just called."
_CLOSE = (
    "All steps of the plan are done. Close now, {agent}: what the agents found with its sources, "
    "where findings conflict, what is missing, what the board should discuss."
)
_FAILED = (
    "Every tool of the last step failed. Tell the user what is missing because of it, {agent}, "
    "and ask how to go on."
)
_WAITING = (
    "A plan is not finished. If the message changes it, {agent}, call propose_plan again; if it "
    "agrees to it or drops it, call confirm_plan or cancel_plan; if not, answer as ever."
)
_ONE_ANSWER_TOKENS = 400  # a thought may come before the one name
_TURN = "It is your turn, {agent}. Answer what was just asked of you."


def cue_text(cue: Cue, *, agent: str, facilitator: str, first: bool) -> str | None:
    """Return the line that ends the prompt, or None where the user's message is the cue.

    Args:
        first: Nobody has answered the user's message yet.
    """
    if cue == "step" and agent == facilitator:
        return _OWN_STEP.format(agent=agent)
    template = {"step": _STEP, "close": _CLOSE, "failed": _FAILED, "waiting": _WAITING}.get(cue)
    if template is None:
        # Some servers take a closing message of an assistant as one to be continued.
        return None if first else _TURN.format(agent=agent)
    return template.format(agent=agent, facilitator=facilitator)


def text_message(role: AuthorRole, text: str, name: str | None = None) -> ChatMessageContent:
    """Return one message of plain text."""
    return ChatMessageContent(role=role, items=[TextContent(text=text)], name=name)


async def say_once(chat_model: ChatCompletionClientBase, instructions: str, text: str) -> str:
    """Return what the model says to one question, beside the talk; "" for nothing.

    Raises:
        ModelError: it gave no answer.
    """
    asked = [text_message(AuthorRole.SYSTEM, instructions), text_message(AuthorRole.USER, text)]
    settings = chat_model.get_prompt_execution_settings_class()(
        service_id=chat_model.service_id, extension_data={"max_tokens": _ONE_ANSWER_TOKENS}
    )
    history, said = ChatHistory(messages=asked), ""
    async for pieces in chat_model.get_streaming_chat_message_contents(history, settings):
        said += "".join(piece.content for piece in pieces)
    return said.strip()


def cue_message(cue: Cue, *, agent: str, facilitator: str, first: bool) -> list[ChatMessageContent]:
    """Return what the server says last, if anything, marked so that a dialect may move it."""
    text = cue_text(cue, agent=agent, facilitator=facilitator, first=first)
    if text is None:
        return []
    message = text_message(AuthorRole.SYSTEM, text)
    back = facilitator if cue == "step" and agent != facilitator else ""
    message.metadata |= {**CUE, CUE_NAME: cue, HANDS_BACK_TO: back}
    return [message]


def background(request: GroupChatRequest) -> list[ChatMessageContent]:
    """Return what is left of the turns that the window leaves out (page 4.3), and what is known."""
    papers = "" if request.papers is None else request.papers.line
    return _as_data(summary_line(request.meaning.summary), request.grounding, papers)


def beside_the_talk(
    request: GroupChatRequest, agent: str, *, in_plan: bool
) -> list[ChatMessageContent]:
    """Return how the user's words are understood, and what `agent` may see as it is now.

    That is marked as no more than an understanding, and of no use to who carries out a step of a
    plan or closes it; entities and the scenario's step follow.
    """
    entities, scenario = request.entities, request.scenario
    return _as_data(
        "" if in_plan else meaning_line(request.meaning.interpretation),
        "" if entities is None else entities.grounding(agent),
        scenario.grounding if scenario is not None and scenario.lead == agent else "",
    )


def _as_data(*texts: str) -> list[ChatMessageContent]:
    return [text_message(AuthorRole.SYSTEM, neutralise(text)) for text in texts if text]


_MARKS = ("{", "```")
_SPEAKS = re.compile(
    r'"(?:entities|entities_to_update|derived_entities_to_update|entities_to_remove|handover)"\s*:'
)


def note_structured_reply(turn: TurnContext, *, agent: str, text: str) -> None:
    """Apply the changes that `text` holds as JSON, if the deployment has agents of older prompts.

    Otherwise nothing that an agent writes is a change: it may quote a mail or a record. What is
    malformed or does not fit is counted, and changes nothing either.
    """
    entities = turn.request.entities
    begins = text.lstrip().startswith(_MARKS) or "\n```" in text
    if entities is None or not (entities.reads_legacy and begins and _SPEAKS.search(text)):
        return
    with suppress(ToolInputError):
        entities.replied(text, agent_name=agent)
    if (notice := entities.eviction_notice()) is not None:
        turn.emit(notice)


NAMES_FOLLOW = "the one who should speak first: "
_INSTRUCTIONS = (
    "Several colleagues were addressed at once. Answer with one name from this list and nothing "
    f"else, {NAMES_FOLLOW}"
)


async def pick(model: ChatCompletionClientBase, agents: Sequence[str], text: str) -> str | None:
    """Ask a model who of several addressed agents speaks next; None if its verdict is unusable.

    Raises:
        ModelError: the model cannot be reached or is too slow.
    """
    instructions = _INSTRUCTIONS + ", ".join(agents)
    try:
        said = await say_once(model, instructions, last_line(text))
    except (ModelOutputError, ModelRefusedError):
        return None
    verdict = said.strip(" \t\r\n*.\"'`").casefold()
    return next((agent for agent in agents if agent.casefold() == verdict), None)


async def speaker_of(
    controller: TurnController, judge: ChatCompletionClientBase, last: Line
) -> str:
    """Return whose move it is; a line written by code is the facilitator's.

    A model decides only between several addressed agents, by what was said last.
    """
    facilitator = controller.speakers.facilitator
    if isinstance(controller.move, AskOneOf):
        among = controller.move.agents
        verdict = await pick(judge, among, last.text)
        # The facilitator has just spoken: asking it again would go round in a circle.
        controller.choose(among[0] if verdict is None and last.agent == facilitator else verdict)
    move = controller.move
    return move.agent if isinstance(move, Ask) else facilitator
