"""A plan as people read it: written by code from its state."""

from collections.abc import Sequence

from data_models.conversations.plan import Plan, PlanStep

PLAN_HEAD = "Plan:"
PLAN_QUESTION = "Shall I go ahead with this plan?"


def plan_message(plan: Plan, strangers: Sequence[str] = ()) -> str:
    """Return `plan` as the text that people read, ending with the question that waits.

    Args:
        strangers: Whom it asked besides, and the team does not have.
    """
    lines = [f"{step.number}. *{step.agent}*: {step.text}" for step in plan.steps]
    if strangers:
        lines.append(f"Left out, as the team has no such agent: {', '.join(strangers)}.")
    return "\n".join([PLAN_HEAD, *lines, "", PLAN_QUESTION])


def still_open_line(plan: Plan) -> str:
    """Return what is said behind an answer while `plan` waits."""
    if plan.status == "proposed":
        return "The plan is still open: say “yes” to run it, “no” to drop it."
    return "The plan is paused: say “continue” to go on with it."


def others_plan_line(asked_by: str) -> str:
    """Return what another member of a group reads who says but yes to a plan."""
    return f"{asked_by} asked for this plan. “Run the plan” starts it, whoever says so."


def form_open_line(agent: str) -> str:
    """Return what is said behind an answer while the form of `agent` waits."""
    return f"*{agent}* still waits for your answer; say “stop” to drop it."


def step_line(plan: Plan, number: int) -> str:
    """Return the facilitator's line that calls step `number`, by its place among those that run."""
    head, step = _headed(plan, number)
    return f"{head}: *{step.agent}*, {_as_task(step.text)}"


def needs_line(plan: Plan, number: int, missing: Sequence[str]) -> str:
    """Return the facilitator's question for what step `number` still needs to know."""
    head, step = _headed(plan, number)
    named = [key.removesuffix("_preference").replace("_", " ") for key in missing]
    listed = " and ".join(part for part in (", ".join(named[:-1]), named[-1]) if part)
    return (
        f"{head} waits: *{step.agent}* needs to know the {listed}. "
        "Tell me, or say “continue” to go on without it."
    )


def _headed(plan: Plan, number: int) -> tuple[str, PlanStep]:
    # What the user left out stands last; what was skipped on the way still counts.
    places = {step.number: place for place, step in enumerate(plan.steps, 1)}
    place = places[number]
    last = max(place, *(places[one.number] for one in plan.steps if one.status != "skipped"))
    return f"Step {place} of {last}", plan.steps[place - 1]


def _as_task(text: str) -> str:
    """Return `text` beginning small, unless it begins with a short form such as CT."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
