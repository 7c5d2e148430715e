"""Whose move it is: the controller says so, and between several addressed agents a model."""

from collections.abc import Sequence

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import ChatMessageContent

from data_models.errors import ModelOutputError, ModelRefusedError
from group_chat.messages import say_once
from group_chat.speakers.speaker_state import Ask, AskOneOf
from group_chat.speakers.turn_controller import TurnController
from services.language.model_output.hand_over import last_line

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
    controller: TurnController,
    judge: ChatCompletionClientBase,
    history: Sequence[ChatMessageContent],
) -> str:
    """Return whose move it is; a line written by code is the facilitator's.

    A model decides only between several addressed agents.
    """
    facilitator = controller.speakers.facilitator
    if isinstance(controller.move, AskOneOf):
        among, last = controller.move.agents, history[-1]
        verdict = await pick(judge, among, last.content)
        # The facilitator has just spoken: asking it again would go round in a circle.
        controller.choose(among[0] if verdict is None and last.name == facilitator else verdict)
    move = controller.move
    return move.agent if isinstance(move, Ask) else facilitator
