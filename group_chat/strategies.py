"""Semantic Kernel's strategies over our own rules: one controller for each turn."""

from pydantic import PrivateAttr
from semantic_kernel.agents import Agent
from semantic_kernel.agents.strategies import SelectionStrategy, TerminationStrategy
from semantic_kernel.contents import ChatMessageContent

from group_chat.judge import Judge
from group_chat.speaker_state import Ask, AskOneOf
from group_chat.termination import is_over
from group_chat.turn_controller import TurnController


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
        """Return whether nobody speaks next."""
        return is_over(self._controller.move)
