"""What each bot has of its own: the team's bot, and those of agents which are registered apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class PerBot(Generic[T]):
    """One thing for each bot.

    Attributes:
        team: The facilitator's, which serves all agents without a bot of their own too.
        agents: By the agent's name, case-folded.
    """

    team: T
    agents: Mapping[str, T] = field(default_factory=dict)

    def at(self, agent: str | None) -> T:
        """Return what belongs to the bot which `agent` is spoken to through."""
        return self.agents.get((agent or "").casefold(), self.team)

    def each(self, make: Callable[[T], U]) -> "PerBot[U]":
        """Return what `make` makes for every bot."""
        agents = {name: make(one) for name, one in self.agents.items()}
        return PerBot(team=make(self.team), agents=agents)
