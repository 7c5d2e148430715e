"""The agents of the team: built once per process, without a word of any turn."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import AuthorRole, ChatHistory

from data_models.clock import Clock, IdSource
from group_chat.drafts.statement_checking import RECORD_TOOLS
from group_chat.messages import text_message
from group_chat.tools.function import offered
from group_chat.tools.kernel import ToolKernel
from group_chat.tools.team_tools import HAND_OVER
from group_chat.tools.tool import Tool, ToolWatcher
from group_chat.turn_context import GroupChatLimits
from services.language.charts.evidence_questions import GUIDELINES, TRIALS
from services.language.questions.single_questions import CHANGES
from services.team import PLAN_TOOL, AgentSpec, Team

# The round after the last allowed one is refused, the one after that may still answer.
_EXTRA_ROUNDS = 2
# Who has it collects what the user wants, and asks for what is missing.
_TALKS_BY = "update_entities"
# A call with a wrong name comes back to the model once.
_FORCED_ROUNDS = 2


@dataclass(slots=True, kw_only=True, eq=False)
class TeamAgent:
    """An agent whose instructions are plain text, never a template. Holds nothing of any turn.

    Attributes:
        kernel: Its tools.
        forced: Itself, made to call one of the tools that steer the team; None for agents that
            have none.
        works_alone: Whether its steps run by themselves: it changes something, or talks with the
            user about what they want.
        tools: Names of its tools.
        first_look: The tool of the record that its steps of a plan begin with; "" for none.
        chart: Every tool that only reads the record, for what is looked up before it is asked; None
            for agents that have none of them.
        looks: Itself, made to call a tool of the record; None if it has none.
        repairs: Whether it can be asked to say again what the record contradicts.
    """

    name: str
    instructions: str
    kernel: ToolKernel
    model: ChatCompletionClientBase
    settings: PromptExecutionSettings
    works_alone: bool = False
    tools: tuple[str, ...] = ()
    forced: "TeamAgent | None" = None
    chart: ToolKernel | None = None
    first_look: str = ""
    looks: "TeamAgent | None" = None
    repairs: bool = False

    async def answer(self, history: ChatHistory) -> AsyncIterator[str]:
        """Yield what the model says to `history`; the calls it makes, with results, are added.

        Raises:
            ModelError: it gave no answer, or the answer broke off.
        """
        first = text_message(AuthorRole.SYSTEM, self.instructions, self.name)
        asked = ChatHistory.model_construct(messages=[first, *history.messages])
        known = len(asked.messages)
        answers = self.model.get_streaming_chat_message_contents(
            asked, self.settings, kernel=self.kernel
        )
        async for pieces in answers:
            for piece in pieces:
                if piece.role == AuthorRole.ASSISTANT and piece.content:
                    yield piece.content
        history.messages.extend(asked.messages[known:])


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFactory:
    """Builds agents that share one model client and one catalogue of tools."""

    chat_model: ChatCompletionClientBase
    tools: Mapping[str, Tool]
    clock: Clock
    ids: IdSource
    limits: GroupChatLimits
    watcher: ToolWatcher
    is_language_model: bool = True

    def build(self, team: Team) -> dict[str, TeamAgent]:
        """Return an agent for each of `team`, by name, facilitator first."""
        specs = {spec.name: spec for spec in team.agents}
        return {name: self._agent(specs[name], team) for name in team.names}

    def tool_kernel(self) -> ToolKernel:
        """Return a kernel with every tool: for what a scenario's steps run, not for an agent."""
        return self._kernel_with(list(self.tools))

    def _agent(self, spec: AgentSpec, team: Team) -> TeamAgent:
        behavior = FunctionChoiceBehavior.Auto() if spec.tools else None
        if behavior is not None:
            behavior.maximum_auto_invoke_attempts = self.limits.tool_rounds + _EXTRA_ROUNDS
        reading = [name for name in spec.tools if name in RECORD_TOOLS]
        agent = TeamAgent(
            name=spec.name,
            instructions=instructions_of(spec, team),
            kernel=self._kernel_with(spec.tools),
            model=self.chat_model,
            settings=self._settings(spec, behavior, spec.tools),
            works_alone=any(self.tools[one].changes or one == _TALKS_BY for one in spec.tools),
            tools=spec.tools,
            chart=self._chart(spec) if reading else None,
            repairs=self.is_language_model,
        )
        if HAND_OVER in spec.tools:
            orders = [name for name in spec.tools if name in (HAND_OVER, PLAN_TOOL)]
            must_order = _must_call(rounds=_FORCED_ROUNDS)
            agent.forced = replace(agent, settings=self._settings(spec, must_order, orders))
        if reading and self.is_language_model and not spec.facilitator:
            must_look = _must_call(rounds=1)
            agent.looks = replace(agent, settings=self._settings(spec, must_look, reading))
            agent.first_look = next((one for one in spec.answers if one in RECORD_TOOLS), "")
        return agent

    def _chart(self, spec: AgentSpec) -> ToolKernel:
        beside = {GUIDELINES, TRIALS, CHANGES}.intersection(spec.tools)
        reading = sorted(name for name in RECORD_TOOLS | beside if name in self.tools)
        return self._kernel_with([one for one in reading if not self.tools[one].changes])

    def _kernel_with(self, names: Sequence[str]) -> ToolKernel:
        return ToolKernel(
            tools={name: self.tools[name] for name in names},
            clock=self.clock,
            ids=self.ids,
            limits=self.limits,
            watcher=self.watcher,
        )

    def _settings(
        self, spec: AgentSpec, behavior: FunctionChoiceBehavior | None, names: Sequence[str]
    ) -> PromptExecutionSettings:
        sent = {} if spec.temperature is None else {"temperature": spec.temperature}
        tools: dict[str, Any] = {}
        if behavior is not None:
            # Semantic Kernel would list the tools of its own plugins, anew for each call.
            behavior.enable_kernel_functions = False
            tools["tools"] = [offered(self.tools[name]) for name in names]
            tools["tool_choice"] = behavior.type_
        settings = self.chat_model.get_prompt_execution_settings_class()(
            service_id=self.chat_model.service_id, extension_data=sent, **tools
        )
        settings.function_choice_behavior = behavior
        return settings


def _must_call(*, rounds: int) -> FunctionChoiceBehavior:
    return FunctionChoiceBehavior.Required(maximum_auto_invoke_attempts=rounds)


def instructions_of(spec: AgentSpec, team: Team) -> str:
    """Return what the model is told: the rules of the team, then the agent's own part.

    `{team}` and `{facilitator}` are filled in; nothing in it changes between turns, and it begins
    alike for every agent, so that a provider can cache it.
    """
    members = [
        f"- *{agent.name}*: {agent.description}" for agent in team.agents if agent.name != spec.name
    ]
    text = f"{team.rules.strip()}\n\n{spec.instructions.strip()}".strip()
    return text.replace("{team}", "\n".join(members)).replace(
        "{facilitator}", team.facilitator.name
    )
