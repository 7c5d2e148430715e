"""Who may speak in this turn: values only, so that every rule can be read and tested alone."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Self, TypeAlias

from data_models.chat_context import Continuation
from data_models.conversations.plan import Plan, PlanStep

EndReason: TypeAlias = Literal["answered", "gate", "question", "limit"]
Cue: TypeAlias = Literal["none", "step", "close", "failed", "waiting"]


@dataclass(frozen=True, slots=True)
class Ask:
    """`agent` speaks next.

    Attributes:
        cue: Why, as a constant line for its prompt.
        task: What the facilitator asked of it by its tool, which no message says.
    """

    agent: str
    cue: Cue = "none"
    task: str = ""


@dataclass(frozen=True, slots=True)
class AskOneOf:
    """Several were addressed: a model picks one."""

    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Announce:
    """The facilitator says `text` without a model; `step` is the plan's step it calls, if any."""

    text: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """The agents of these steps work side by side; `text` is the line that calls them."""

    text: str
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class End:
    """Nobody speaks any more in this turn."""

    reason: EndReason


Move: TypeAlias = Ask | AskOneOf | Announce | Work | End


@dataclass(frozen=True, slots=True)
class Said:
    """One finished message of an agent.

    Attributes:
        rendered: Written by code from the plan's state, not by a model.
        failed: Every tool that it called failed.
        again: Its agent has said just this in the turn before: they go in circles.
    """

    agent: str
    text: str
    rendered: bool = False
    failed: bool = False
    again: bool = False


@dataclass(frozen=True, slots=True)
class SpeakerState:
    """The state that the rules of who speaks look at.

    Attributes:
        agents: Names of the whole team.
        plan: This patient's plan as it is now.
        step: Number of the plan's step that this turn works on.
        failed_step: Number of the step whose agent failed and which the facilitator handles.
        is_on_plan: Whether the user had the plan worked on in this turn: a question beside it does
            not.
        is_new_plan: Whether the plan was proposed in this turn.
        alone: Agents that change something or talk with the user: their steps run by themselves.
        spoken: Agents that spoke since the facilitator did.
        messages: Agent messages so far in this turn.
        form: The agent whose form waits for an answer that this message is not.
        is_asked: Whether the server asks again behind the answer what that form came to.
    """

    facilitator: str
    agents: tuple[str, ...]
    plan: Plan | None = None
    step: int | None = None
    failed_step: int | None = None
    spoken: frozenset[str] = frozenset()
    messages: int = 0
    is_on_plan: bool = False
    is_new_plan: bool = False
    alone: frozenset[str] = frozenset()
    form: Continuation | None = None
    is_asked: bool = False

    @property
    def gate_is_closed(self) -> bool:
        """Whether a plan was proposed just now: nobody speaks before a person has read it."""
        return self.plan is not None and self.is_new_plan and self.plan.status == "proposed"

    @property
    def plan_runs(self) -> bool:
        """Whether the plan is being worked on."""
        return self.is_on_plan and self.plan is not None and self.plan.status == "running"

    @property
    def waits_beside(self) -> bool:
        """Whether a plan is open that this turn does not work on."""
        return self.plan is not None and self.plan.is_open and not self.plan_runs

    def heard(self, said: Said) -> Self:
        """Return the speakers after `said`."""
        mine = said.agent == self.facilitator
        spoken = frozenset[str]() if mine else self.spoken | {said.agent}
        return replace(self, spoken=spoken, messages=self.messages + 1)

    def within(self, move: Move, *, messages: int) -> Move:
        """Return `move`, or the end of the turn once `messages` agent messages were said."""
        over = self.messages >= messages and not isinstance(move, End)
        return End("limit") if over else move

    def with_plan(self, plan: Plan | None) -> Self:
        """Return the speakers with another plan."""
        return replace(self, plan=plan)

    def starting(self, number: int, *, now: datetime) -> Self:
        """Return the speakers with step `number` of the plan running."""
        if self.plan is None:
            return self
        plan = self.plan.with_step(number, "running", now=now)
        return replace(self, plan=plan, step=number, failed_step=None)

    def ended_step(self, status: Literal["done", "skipped", "pending"], *, now: datetime) -> Self:
        """Return them with the step in work put into `status`; the last one ends the plan."""
        number = self.step if self.step is not None else self.failed_step
        if self.plan is None or number is None:
            return self
        plan = self.plan.with_step(number, status, now=now)
        if plan.next_step() is None:
            plan = plan.with_status("done", now=now)
        return replace(self, plan=plan, step=None, failed_step=None)

    def step_failed(self) -> Self:
        """Return the speakers with the step in work left to the facilitator to handle."""
        return replace(self, step=None, failed_step=self.step)

    def next_steps(self) -> list[PlanStep]:
        """Return the steps that are to be worked on next: several side by side, or one alone.

        Those that work alone come when all before them are done, as what they do builds on it.
        """
        if self.plan is None or not self.plan_runs:
            return []
        ready = self.plan.ready_steps()
        together: list[PlanStep] = []
        for step in self.plan.steps:
            if step.status not in ("running", "pending"):
                continue
            is_member = step.agent in self.agents and step.agent != self.facilitator
            if not is_member or step.agent in self.alone:
                return together or ready[:1]
            together += [step] if step in ready else []
        return together
