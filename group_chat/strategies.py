"""Semantic Kernel's strategies over our own rules: one table for each turn."""

from pydantic import PrivateAttr
from semantic_kernel.agents import Agent
from semantic_kernel.agents.strategies import SelectionStrategy, TerminationStrategy
from semantic_kernel.contents import ChatMessageContent

from group_chat.floor import Ask, AskOneOf
from group_chat.judge import Judge
from group_chat.table import Table
from group_chat.termination import is_over


class TableSelection(SelectionStrategy):
    """Selects who the table says; a model decides only between several addressed agents."""

    _table: Table = PrivateAttr()
    _judge: Judge = PrivateAttr()

    def __init__(self, *, table: Table, judge: Judge) -> None:
        super().__init__()
        self._table = table
        self._judge = judge

    async def select_agent(self, agents: list[Agent], history: list[ChatMessageContent]) -> Agent:
        """Return the agent of the table's move; a line written by code is the facilitator's."""
        table = self._table
        if isinstance(table.move, AskOneOf):
            among = table.move.agents
            verdict = await self._judge.pick(among, history[-1].content)
            asked_by_facilitator = history[-1].name == table.floor.facilitator
            # The facilitator has just spoken: asking it again would go round in a circle.
            table.choose(among[0] if verdict is None and asked_by_facilitator else verdict)
        move = table.move
        name = move.agent if isinstance(move, Ask) else table.floor.facilitator
        return next(agent for agent in agents if agent.name == name)


class TableTermination(TerminationStrategy):
    """Ends when the table has no further move."""

    _table: Table = PrivateAttr()

    def __init__(self, *, table: Table) -> None:
        super().__init__()
        self._table = table

    async def should_agent_terminate(
        self,
        agent: Agent,
        history: list[ChatMessageContent],
    ) -> bool:
        """Return whether nobody speaks next."""
        return is_over(self._table.move)
