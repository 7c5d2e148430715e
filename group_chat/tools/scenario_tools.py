"""Tools by which agents run scenarios, and the tools that a scenario's own steps run."""

from typing import Any

from pydantic import Field

from data_models.errors import ScenarioInputError, ToolInputError
from data_models.identifiers import hashed
from group_chat.tools.tool import ToolOutput, tools_of
from group_chat.turn_context import TurnContext, action_key
from services.group_chat_port import NoteWritten
from services.scenarios.session.progress import ToolAction, ToolRan
from services.scenarios.session.scenario_runtime import ScenarioRuntime

_RECEIPT_CHARS = 8


async def start_scenario(
    turn: TurnContext, name: str = Field(max_length=120, description="Name or id of the scenario.")
) -> ToolOutput:
    """Begins a guided workflow for this patient, or goes on with one that was left."""
    runtime = _runtime(turn)
    if turn.request.patient_id is None:
        raise ToolInputError("no patient is active; ask the user for a patient id")
    try:
        await runtime.start(name, agent=turn.agent, act=_runner(turn))
    except ScenarioInputError as error:
        raise ToolInputError(error.user_message) from None
    return runtime.as_shown_to_agents


async def record_fields(
    turn: TurnContext,
    values: dict[str, Any] = Field(
        min_length=1,
        max_length=40,
        description="By field name, as typed: dates YYYY-MM-DD, true or false, plain numbers.",
    ),
    quotes: dict[str, str] = Field(
        default_factory=dict,
        max_length=40,
        description="By field name: the user's own words that say the value, copied exactly.",
    ),
) -> ToolOutput:
    """Records what the user said for fields of the open scenario; tells the next step."""
    try:
        return await _runtime(turn).record(values, act=_runner(turn), quotes=quotes)
    except ScenarioInputError as error:
        raise ToolInputError(error.user_message) from None


async def where_are_we(turn: TurnContext) -> ToolOutput:
    """Tells the step of the open scenario."""
    return {"where": await _runtime(turn).where()}


async def leave_scenario(turn: TurnContext) -> ToolOutput:
    """Leaves the scenario; it can be resumed."""
    return {"left": await _runtime(turn).leave()}


async def resume_scenario(turn: TurnContext) -> ToolOutput:
    """Goes on with the scenario left last."""
    runtime = _runtime(turn)
    if not await runtime.resume():
        raise ToolInputError("no scenario was left")
    await runtime.settle(_runner(turn))
    return runtime.as_shown_to_agents


def _runtime(turn: TurnContext) -> ScenarioRuntime:
    if turn.request.scenario is None:
        raise ToolInputError("there are no scenarios in this conversation")
    return turn.request.scenario


def _runner(turn: TurnContext) -> Any:
    return turn.act or _run_nothing


async def _run_nothing(_: ToolAction) -> ToolRan:
    return ToolRan(succeeded=False)


async def write_note(
    turn: TurnContext,
    title: str = Field(min_length=1, max_length=80, description="What the note is."),
    text: str = Field(min_length=1, max_length=1_000, description="What the user answered."),
) -> ToolOutput:
    """Notes what the user answered, so that the team and the tumor board document have it."""
    turn.patient_id  # noqa: B018 - a note is about a patient; without one it is refused
    heading = " ".join(title.split())
    turn.emit(NoteWritten(f"{heading}: {text}", heading))
    return {"noted": heading}


async def pretend_payment(
    _: TurnContext,
    amount: str = Field(min_length=1, max_length=40, description="With its currency."),  # noqa: ARG001 - is shown with the call
    purpose: str = Field(min_length=1, max_length=120, description="For what."),
) -> ToolOutput:
    """Plays a payment for demonstrations: no money moves."""
    receipt = hashed(action_key() or purpose)[:_RECEIPT_CHARS]
    return {"paid": True, "receipt": f"DEMO-{receipt}", "money_moved": False}


SCENARIO_TOOLS = tools_of(
    start_scenario, record_fields, where_are_we, leave_scenario, resume_scenario
)
WORKFLOW_TOOLS = tools_of(write_note, pretend_payment)
