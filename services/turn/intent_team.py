"""What the memory of turns needs to know of a team: who there is, and what users may want."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class IntentSpec(Protocol):
    """An intent as the team's file lists it."""

    @property
    def name(self) -> str:
        """Such as `GENERAL_HEALTH`."""
        ...

    @property
    def description(self) -> str:
        """One line for the model."""
        ...

    @property
    def agent(self) -> str:
        """Who speaks first for it."""
        ...

    @property
    def words(self) -> Sequence[str]:
        """What speaks for it."""
        ...

    @property
    def phase(self) -> str:
        """What the conversation is in meanwhile."""
        ...


class IntentTeam(Protocol):
    """A team, as far as its memory depends on it."""

    @property
    def names(self) -> Sequence[str]:
        """All agents."""
        ...

    @property
    def legacy_names(self) -> Mapping[str, str]:
        """Who agents of older deployments are today, by their old name."""
        ...

    @property
    def intents(self) -> Sequence[IntentSpec]:
        """What users may want."""
        ...
