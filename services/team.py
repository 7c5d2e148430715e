"""The team as an operator writes it in `team.yaml`, checked before anything starts."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import yaml
from pydantic import Field, ValidationError, model_validator

from data_models.errors import ConfigurationError
from data_models.values import ClosedValue
from services.language.utterance import TeamMember
from services.memory_blocks.plain_reading import IntentSpec

TEAM_FILE = Path(__file__).parents[1] / "group_chat" / "team.yaml"
NAME_PATTERN = r"[A-Za-z][A-Za-z0-9_-]{0,63}"
PLAN_TOOL = "propose_plan"
Need: TypeAlias = Literal["order_drafts", "research"]
ORDER_DRAFTS: Need = "order_drafts"
RESEARCH: Need = "research"
_EXAMPLE = "see docs/agents.md for an example"


class AgentSpec(ClosedValue):
    """One agent.

    Attributes:
        name: Goes on the wire and into `*Name*`: a letter, then letters, digits, `_`, `-`.
        instructions: What its model is told, before the rules of the tool_kernel.
        description: One line for people and for the facilitator, who picks by it.
        facilitator: Exactly one agent of the team speaks for the server.
        tools: Names from the catalogue of `group_chat/tools`.
        answers: Those of its tools whose questions are this agent's before they are anybody
            else's who has the tool, too. Without any, it is asked last.
        general_knowledge: It may say what is known of medicine in general, labelled so.
        temperature: Sent to the model if set.
        needs: What has to be switched on for it, such as `order_drafts`; without that it is not of
            the team.
    """

    name: str
    instructions: str = Field(min_length=1, max_length=8_000)
    description: str = Field(min_length=1, max_length=200)
    facilitator: bool = False
    general_knowledge: bool = False
    tools: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    needs: Need | None = None


def card_of(spec: AgentSpec) -> TeamMember:
    """Return what others know of an agent."""
    return TeamMember(spec.name, spec.tools, spec.answers, spec.facilitator, spec.description)


class Team(ClosedValue):
    """All agents, facilitator first, and the rules that every one of them is told.

    Attributes:
        intents: What users may want of one agent in particular; all else is the facilitator's.
        rules: Told to every agent after its own instructions.
        legacy_names: Names of agents in older deployments, and who they are today.
    """

    rules: str = ""
    legacy_names: Mapping[str, str] = Field(default_factory=dict)
    intents: tuple[IntentSpec, ...] = Field(default=(), max_length=20)
    agents: tuple[AgentSpec, ...] = Field(min_length=1, max_length=40)

    @model_validator(mode="after")
    def _is_a_team(self) -> Self:
        for agent in self.agents:
            if re.fullmatch(NAME_PATTERN, agent.name) is None:
                raise ValueError(
                    f"agent name {agent.name[:80]!r} must be a letter followed by at most 63 "
                    "letters, digits, _ or - (no spaces)"
                )
        folded = [agent.name.casefold() for agent in self.agents]
        if twice := sorted({name for name in folded if folded.count(name) > 1}):
            raise ValueError(f"agent name used twice: {', '.join(twice)}")
        leading = [agent.name for agent in self.agents if agent.facilitator]
        if len(leading) != 1:
            raise ValueError(
                f"exactly one agent needs `facilitator: true`, found {len(leading)}"
                + (f": {', '.join(leading)}" if leading else "")
            )
        planning = [a.name for a in self.agents if PLAN_TOOL in a.tools and not a.facilitator]
        if planning:
            raise ValueError(f"only the facilitator may have {PLAN_TOOL}, not {planning[0]}")
        strangers = [one.agent for one in self.intents if one.agent.casefold() not in folded]
        if strangers:
            raise ValueError(f"an intent names {strangers[0]!r}, who is not in the team")
        return self

    @property
    def facilitator(self) -> AgentSpec:
        """The agent that speaks for the server."""
        return next(agent for agent in self.agents if agent.facilitator)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, facilitator first."""
        others = [agent.name for agent in self.agents if not agent.facilitator]
        return (self.facilitator.name, *others)

    def given(self, tools: Mapping[str, Sequence[str]]) -> Self:
        """Return the team with more tools for those agents whom `tools` names."""
        agents = tuple(
            one.model_copy(update={"tools": (*one.tools, *tools.get(one.name, ()))})
            for one in self.agents
        )
        return self.model_copy(update={"agents": agents})


def load_team(
    path: Path = TEAM_FILE, *, tools: Collection[str], switched_on: Collection[Need] = ()
) -> Team:
    """Return the team in `path`, whose agents may use `tools`.

    Args:
        switched_on: What agents may need; who needs something else is left out.

    Raises:
        ConfigurationError: the file is absent, no YAML, or not a usable team; the text names
            the file, the agent and what to do.
    """
    team = read_team(path)
    for agent in team.agents:
        if unknown := sorted(set(agent.tools) - set(tools)):
            known = ", ".join(sorted(tools))
            raise ConfigurationError(
                f"{path.name}: agent {agent.name} has an unknown tool {unknown[0]!r}; "
                f"known: {known}"
            )
        if strange := sorted(set(agent.answers) - set(agent.tools)):
            told = f"agent {agent.name} answers by {strange[0]!r}, none of its tools"
            raise ConfigurationError(f"{path.name}: {told}")
    there = [each for each in team.agents if each.needs is None or each.needs in switched_on]
    return team.model_copy(update={"agents": tuple(there)})


def _document(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read; {_EXAMPLE}") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path} is not YAML: {_place(error)}; {_EXAMPLE}") from error


def read_team(path: Path) -> Team:
    """Return the team in `path`, whatever its agents use.

    Raises:
        ConfigurationError: as `load_team`.
    """
    document = _document(path)
    try:
        return Team.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = _where(first["loc"], document)
        problem = str(first["msg"]).removeprefix("Value error, ")
        raise ConfigurationError(f"{path.name}: {where}{problem}; {_EXAMPLE}") from error


def _where(loc: tuple[int | str, ...], document: Any) -> str:
    """Return `agent Radiology, tools: ` for a place inside an agent, else the place itself."""
    if len(loc) > 1 and loc[0] == "agents" and isinstance(loc[1], int):
        row = document["agents"][loc[1]]
        name = row.get("name") if isinstance(row, dict) else None
        rest = ".".join(str(part) for part in loc[2:])
        return f"agent {name or f'number {loc[1] + 1}'}, {rest}: "
    return f"{'.'.join(str(part) for part in loc)}: " if loc else ""


def _place(error: yaml.YAMLError) -> str:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return f"line {mark.line + 1}, column {mark.column + 1}" if mark else "not readable"
