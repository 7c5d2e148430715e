"""Tools of the facilitator: the plan and the roster."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from data_models.clock import Clock, IdSource
from data_models.entity_queue import canonical_keys
from data_models.errors import ToolInputError
from data_models.plan import PLAN_LIMIT_STEPS, Plan, PlanStep
from data_models.written_order import in_written_order
from group_chat.plan_text import STEP_LIMIT_CHARS
from group_chat.team import PLAN_TOOL
from group_chat.tools.tool import NoArguments, Tool, ToolOutput
from group_chat.turn_context import TurnContext
from services.patient_context.snapshot import neutralise


class StepArguments(BaseModel):
    """One step as the model proposes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str = Field(max_length=64, description="Name of an agent of the team.")
    text: str = Field(min_length=1, max_length=STEP_LIMIT_CHARS, description="Its task, short.")
    needs: list[str] = Field(
        default_factory=list,
        max_length=10,
        description="Keys that the user must have said first, such as doctor_preference or "
        "date_preference; mostly none.",
    )


class PlanArguments(BaseModel):
    """The steps in order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: list[StepArguments] = Field(min_length=1, max_length=PLAN_LIMIT_STEPS)


def team_tools(*, names: Sequence[str], clock: Clock, ids: IdSource) -> tuple[Tool, ...]:
    """Return the tools for a team of `names`."""
    known = {name.casefold(): name for name in names}

    async def propose(turn: TurnContext, asked: PlanArguments) -> ToolOutput:
        steps = [(_member(step.agent, known), step.text, step.needs) for step in asked.steps]
        turn.proposed = new_plan(steps, turn=turn, clock=clock, ids=ids)
        return {"plan": "proposed", "steps": len(steps), "waits_for": "the user's confirmation"}

    return (
        Tool(
            PLAN_TOOL,
            "Proposes a plan to the user, who has to confirm it before any step runs.",
            PlanArguments,
            propose,
            ends_message=True,
        ),
        Tool(
            "list_roster",
            "The patients of this conversation and which one is active.",
            NoArguments,
            _roster,
        ),
    )


def new_plan(
    steps: Sequence[tuple[str, str, Sequence[str]]],
    *,
    turn: TurnContext,
    clock: Clock,
    ids: IdSource,
) -> Plan:
    """Return a proposed plan of (agent, task, needs), with a new id."""
    now = clock.now()
    rows = [
        PlanStep(
            number=number,
            agent=agent,
            text=neutralise(" ".join(in_written_order(text).split())),
            needs=canonical_keys(needs),
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


async def _roster(turn: TurnContext, _: NoArguments) -> ToolOutput:
    return {
        "active": turn.request.patient_id or "none",
        "patients": list(turn.request.all_patient_ids),
    }


def _member(name: str, known: dict[str, str]) -> str:
    member = known.get(name.strip("* ").casefold())
    if member is None:
        raise ToolInputError(f"steps need an agent of the team: {', '.join(known.values())}")
    return member
