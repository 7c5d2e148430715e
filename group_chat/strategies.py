"""Semantic Kernel's strategies over our own rules: one controller for each turn."""

from collections.abc import Sequence

from pydantic import PrivateAttr
from semantic_kernel.agents import Agent
from semantic_kernel.agents.strategies import SelectionStrategy, TerminationStrategy
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import AuthorRole, ChatHistory, ChatMessageContent

from data_models.errors import ModelOutputError, ModelRefusedError
from group_chat.speaker_state import Ask, AskOneOf, End
from group_chat.turn_controller import TurnController
from services.language.hand_over import last_line

# Asks a model who of several addressed agents speaks next.

NAMES_FOLLOW = "the one who should speak first: "
_INSTRUCTIONS = (
    "Several colleagues were addressed at once. Answer with one name from this list and nothing "
    f"else, {NAMES_FOLLOW}"
)


class Judge:
    """Shared by all turns; holds nothing of any."""

    def __init__(self, *, chat_model: ChatCompletionClientBase) -> None:
        self._chat_model = chat_model

    async def pick(self, agents: Sequence[str], text: str) -> str | None:
        """Return one of `agents`, or None if the verdict is unusable.

        Raises:
            ModelError: the model cannot be reached or is too slow.
        """
        instructions = _INSTRUCTIONS + ", ".join(agents)
        history = ChatHistory(
            messages=[
                ChatMessageContent(role=AuthorRole.SYSTEM, content=instructions),
                ChatMessageContent(role=AuthorRole.USER, content=last_line(text)),
            ]
        )
        settings = self._chat_model.get_prompt_execution_settings_class()(
            service_id=self._chat_model.service_id
        )
        try:
            answers = await self._chat_model.get_chat_message_contents(history, settings)
        except (ModelOutputError, ModelRefusedError):
            return None
        verdict = answers[0].content.strip(" \t\r\n*.\"'`").casefold() if answers else ""
        return next((agent for agent in agents if agent.casefold() == verdict), None)


class ControllerSelection(SelectionStrategy):
    """Selects who the controller says; a model decides only between several addressed agents."""

    _controller: TurnController = PrivateAttr()
    _judge: Judge = PrivateAttr()

    def __init__(self, *, controller: TurnController, judge: Judge) -> None:
        super().__init__()
        self._controller = controller
        self._judge = judge

    async def select_agent(self, agents: list[Agent], history: list[ChatMessageContent]) -> Agent:
        """Return the agent of the next move; a line written by code is the facilitator's."""
        controller = self._controller
        if isinstance(controller.move, AskOneOf):
            among = controller.move.agents
            verdict = await self._judge.pick(among, history[-1].content)
            asked_by_facilitator = history[-1].name == controller.speakers.facilitator
            # The facilitator has just spoken: asking it again would go round in a circle.
            controller.choose(among[0] if verdict is None and asked_by_facilitator else verdict)
        move = controller.move
        name = move.agent if isinstance(move, Ask) else controller.speakers.facilitator
        return next(agent for agent in agents if agent.name == name)


class ControllerTermination(TerminationStrategy):
    """Ends when the controller has no further move."""

    _controller: TurnController = PrivateAttr()

    def __init__(self, *, controller: TurnController) -> None:
        super().__init__()
        self._controller = controller

    async def should_agent_terminate(
        self,
        agent: Agent,
        history: list[ChatMessageContent],
    ) -> bool:
        """Return whether nobody speaks next.

        A hand-back or a snapshot as the newest message never ends a turn: a hand-back is a move,
        and a snapshot is no message of an agent, so no move is ever taken from it.
        """
        return isinstance(self._controller.move, End)
