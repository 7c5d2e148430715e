"""What every write to entities is told, the team and the moment, and what it answers."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypedDict

from data_models.entities.derived_entities import UNKNOWN_OWNER
from data_models.entities.entity_queue import EntityReport
from data_models.errors import UnknownAgentError

# The names of agents that entities may belong to.

_SEPARATORS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class AgentNames:
    """The team, as entities need it.

    Attributes:
        names: The agents; None where any name will do.
        legacy: What older deployments called them, by their old name.
    """

    names: frozenset[str] | None
    legacy: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, names: Iterable[str] | None, *, legacy: Mapping[str, str] | None = None
    ) -> "AgentNames":
        """Return the team of `names`."""
        return cls(None if names is None else frozenset(names), dict(legacy or {}))

    def checked(self, agent_name: str | None) -> str:
        """Return `agent_name`, which is in the team.

        Raises:
            UnknownAgentError: it is not, or is empty (E11).
        """
        if not agent_name or not agent_name.strip() or agent_name == UNKNOWN_OWNER:
            raise UnknownAgentError("an agent must be named")
        if self.names is not None and agent_name not in self.names:
            raise UnknownAgentError("the agent is not in the team")
        return agent_name

    def owner(self, legacy_name: str | None) -> str:
        """Return the agent that a legacy document means; `unknown` if it names none (E26).

        Raises:
            UnknownAgentError: it names an agent that the team does not have.
        """
        if not legacy_name or legacy_name == UNKNOWN_OWNER:
            return UNKNOWN_OWNER
        mapped = self.legacy.get(legacy_name, legacy_name)
        if self.names is None or mapped in self.names:
            return mapped
        folded = {_folded(name): name for name in self.names}
        return self.checked(folded.get(_folded(mapped), mapped))


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


class MergeReport(TypedDict):
    """What became of each key, by namespace."""

    conversation: EntityReport
    derived: EntityReport


@dataclass(frozen=True, slots=True)
class Writing:
    """The circumstances of a write, which the server knows and no model says.

    Attributes:
        team: The agents that exist.
        pinned: Keys that the open plan or scenario step needs; they never leave.
        expected_revision: Revision at which the writer read; None if it did not look.
    """

    now: datetime
    team: AgentNames
    pinned: Collection[str] = field(default_factory=frozenset)
    expected_revision: int | None = None
