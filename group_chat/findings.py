"""What the steps of a plan found, for whoever builds on it: all of it, in the plan's order."""

from data_models.chat_context import AgentMessage
from data_models.plan import Plan
from group_chat.turn_context import TurnContext
from group_chat.window import Line, line_of


def findings_of(plan: Plan, turn: TurnContext) -> list[AgentMessage]:
    """Return the messages of the plan's steps, of this turn and earlier ones, as they were shown.

    A step that was done again counts as it was done last.
    """
    said = [message for earlier in turn.request.history for message in earlier.agent_responses]
    of_step = {
        message.plan_step: message
        for message in [*said, *turn.said]
        if message.plan_id == plan.plan_id
    }
    return [of_step[step.number] for step in plan.steps if step.number in of_step]


def lines_to_close(plan: Plan, turn: TurnContext, *, facilitator: str) -> list[Line]:
    """Return what every step found, whole, and which steps nobody carried out."""
    found = [line_of(one.agent, one.text) for one in findings_of(plan, turn)]
    missed = [f"- {step.agent}: {step.text}" for step in plan.steps if step.status == "skipped"]
    if missed:
        found.append(line_of(facilitator, "\n".join(["Steps that nobody carried out:", *missed])))
    return found


def lines_built_on(plan: Plan, turn: TurnContext, *, agent: str) -> list[Line]:
    """Return what the steps found that `agent`'s steps build on: nobody else's words."""
    needed = {number for step in plan.steps if step.agent == agent for number in step.after}
    found = findings_of(plan, turn)
    return [line_of(one.agent, one.text) for one in found if one.plan_step in needed]
