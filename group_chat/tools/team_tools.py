"""Tools of the facilitator: the hand-over, the plan and the roster. Nothing else steers."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from data_models.chart_view import in_written_order
from data_models.clock import Clock, IdSource
from data_models.conversations.plan import PLAN_LIMIT_STEPS, STEP_LIMIT_CHARS, Plan, PlanStep
from data_models.entities.entity_values import CONVERSATION_KEYS, canonical_key
from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.drafts.statement_checking import names_another
from group_chat.tools.tool import Tool, ToolOutput, tools_of
from group_chat.turn_context import HandedOver, TurnContext
from services.language.replies.yes_no import consent_in
from services.patient_context.reading.snapshot import neutralise
from services.team import PLAN_TOOL

HAND_OVER, CONFIRM_PLAN, CANCEL_PLAN = "hand_over", "confirm_plan", "cancel_plan"
ORDERS = (HAND_OVER, PLAN_TOOL, CONFIRM_PLAN, CANCEL_PLAN)
_NAME_CHARS = 60
_NUMBERS = tuple(str(number) for number in range(1, PLAN_LIMIT_STEPS))


class HandOverArguments(ClosedValue):
    """Who does what."""

    agent: str
    task: str = Field(max_length=STEP_LIMIT_CHARS, description="What it shall do, short.")


class StepArguments(ClosedValue):
    """One step as the model proposes it."""

    agent: str
    text: str = Field(min_length=1, max_length=STEP_LIMIT_CHARS, description="Its task, short.")
    needs: list[str] = Field(default_factory=list, max_length=PLAN_LIMIT_STEPS)


class PlanArguments(ClosedValue):
    """The steps in order."""

    steps: Sequence[StepArguments]


def team_tools(*, names: tuple[str, ...], clock: Clock, ids: IdSource) -> tuple[Tool, ...]:
    """Return the tools for a team of `names`, facilitator first."""

    async def propose(turn: TurnContext, asked: PlanArguments) -> ToolOutput:
        steps = _of_team(asked.steps, names)
        _refuse_another(turn, [text for _, text, _ in steps])
        turn.proposed = new_plan(steps, turn=turn, clock=clock, ids=ids)
        strangers = dict.fromkeys(step.agent for step in asked.steps if step.agent not in names)
        turn.strangers = tuple(map(neutralise, strangers))
        return {"plan": "proposed", "steps": len(steps), "waits_for": "the user's confirmation"}

    return (
        Tool(
            HAND_OVER,
            "Has an agent of the team answer now. Only this hands over: to say it does nothing.",
            _hand_over_shape(names),
            _hand_over,
            ends_message=True,
        ),
        Tool(
            PLAN_TOOL,
            "Proposes a plan to the user, who has to confirm it before any step runs.",
            _plan_shape(names),
            propose,
            ends_message=True,
        ),
        *tools_of(confirm_plan, cancel_plan, ends_message=True),
        *tools_of(list_roster),
    )


@lru_cache(maxsize=8)
def _hand_over_shape(names: tuple[str, ...]) -> type[BaseModel]:
    others = _one_of(names[1:] or names, "Name of the agent.")
    return cast(
        "type[BaseModel]",
        create_model("HandOverArguments", __base__=HandOverArguments, agent=(others, ...)),
    )


@lru_cache(maxsize=8)
def _plan_shape(names: tuple[str, ...]) -> type[BaseModel]:
    """Return the arguments with the team's names, step numbers and known keys as their values."""
    values: Any = Literal[(*_NUMBERS, *sorted(CONVERSATION_KEYS))]
    need: Any = Annotated[values, BeforeValidator(_as_need)]
    step: Any = create_model(
        "StepArguments",
        __base__=StepArguments,
        agent=(_one_of(names, "Name of an agent of the team.", is_closed=False), ...),
        needs=(
            list[need],
            Field(
                default_factory=list,
                max_length=PLAN_LIMIT_STEPS,
                description="Numbers of earlier steps that it builds on, and keys that the user "
                "must have said first; mostly none: steps without any run side by side.",
            ),
        ),
    )
    steps: Any = Annotated[list[step], Field(min_length=1, max_length=PLAN_LIMIT_STEPS)]
    return cast(
        "type[BaseModel]", create_model("PlanArguments", __base__=PlanArguments, steps=(steps, ...))
    )


def _of_team(
    steps: Sequence[StepArguments], names: Sequence[str]
) -> list[tuple[str, str, list[str]]]:
    """Return the steps of agents that the team has, numbered anew: a stranger ends no board.

    Raises:
        ToolInputError: there is none but of who leads, who has to be asked for nothing.
    """
    own = [str(at) for at, one in enumerate(steps, 1) if one.agent in names]
    left_out = {str(at) for at, one in enumerate(steps, 1) if one.agent not in names}
    places = {old: str(new) for new, old in enumerate(own, 1)}
    others = names[1:] or names
    if not any(one.agent in others for one in steps):
        raise ToolInputError(f"steps.0.agent: Input should be {' or '.join(map(repr, others))}")
    return [
        (one.agent, one.text, [places.get(n, n) for n in one.needs if n not in left_out])
        for one in steps
        if one.agent in names
    ]


def _one_of(names: Sequence[str], description: str, *, is_closed: bool = True) -> Any:
    """Return the type of one of `names`; models may write it starred or in other letters.

    Args:
        is_closed: Whether another name is refused; else only the schema says that none is.
    """
    known = {name.casefold(): name for name in names}

    def spelt(value: object) -> object:
        return known.get(value.strip("*@ ").casefold(), value) if isinstance(value, str) else value

    kind: Any = Literal[tuple(names)]
    if not is_closed:
        schema = {"enum": [*names], "type": "string"}
        kind = Annotated[str, Field(max_length=_NAME_CHARS), WithJsonSchema(schema)]
    return Annotated[kind, BeforeValidator(spelt), Field(description=description)]


def _as_need(value: object) -> object:
    if isinstance(value, int):
        return str(value)
    return (canonical_key(value) or value) if isinstance(value, str) else value


async def _hand_over(turn: TurnContext, asked: HandOverArguments) -> ToolOutput:
    task = neutralise(" ".join(in_written_order(asked.task).split()))
    _refuse_another(turn, [task])
    turn.order = HandedOver(asked.agent, task)
    return {"handed_over_to": asked.agent}


def _refuse_another(turn: TurnContext, tasks: Sequence[str]) -> None:
    """Return if no task names another patient than the open one, whose rows all would be read.

    Raises:
        ToolInputError: one does.
    """
    request = turn.request
    is_other = names_another(request.patient_id, request.all_patient_ids)
    if any(is_other(task) or request.others_named(task) for task in tasks):
        raise ToolInputError("a task is of the open patient only; name no other one in it")


async def confirm_plan(turn: TurnContext) -> ToolOutput:
    """Runs the open plan, when the user's last message agrees to it."""
    return _answered(turn, "confirm")


async def cancel_plan(turn: TurnContext) -> ToolOutput:
    """Drops the open plan, when the user's last message says so."""
    return _answered(turn, "cancel")


def _answered(turn: TurnContext, answer: Literal["confirm", "cancel"]) -> ToolOutput:
    """Take a yes or a no that the user's own words say; else the plan is shown again.

    Raises:
        ToolInputError: no plan is open.
    """
    plan, request = turn.request.plan, turn.request
    if plan is None or not plan.is_open:
        raise ToolInputError("no plan is open; propose one with propose_plan")
    said = consent_in(request.text)
    wanted = "yes" if answer == "confirm" else "no"
    is_theirs = answer == "cancel" or not request.plan_asked_by
    is_clear = said == wanted and request.continuation is None and is_theirs
    turn.order = answer if is_clear else "show"
    return {"plan": answer if is_clear else "shown again: the user has to say yes or no to it"}


def new_plan(
    steps: Sequence[tuple[str, str, Sequence[str]]],
    *,
    turn: TurnContext,
    clock: Clock,
    ids: IdSource,
) -> Plan:
    """Return a proposed plan of (agent, task, needs), with a new id.

    Raises:
        ToolInputError: a step needs one that is not before it.
    """
    now = clock.now()
    rows = [
        PlanStep(
            number=number,
            agent=agent,
            text=neutralise(" ".join(in_written_order(text).split())),
            needs=[need for need in needs if not need.isdecimal()],
            after=_earlier(number, needs),
        )
        for number, (agent, text, needs) in enumerate(steps, 1)
    ]
    return Plan(
        plan_id=ids.new_id("plan"),
        run_id=turn.request.run_id,
        steps=rows,
        created_at=now,
        updated_at=now,
    )


async def list_roster(turn: TurnContext) -> ToolOutput:
    """The patients of this conversation and which one is active."""
    return {
        "active": turn.request.patient_id or turn.request.active or "none",
        "patients": list(turn.request.all_patient_ids),
    }


def _earlier(number: int, needs: Sequence[str]) -> list[int]:
    after = sorted({int(need) for need in needs if need.isdecimal()})
    if after and after[-1] >= number:
        raise ToolInputError(
            f"step {number} needs step {after[-1]}: a step can only need the number of an earlier "
            "one; steps are numbered from 1 in the order given"
        )
    return after
