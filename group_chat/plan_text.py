"""Recognises a plan that the facilitator wrote as text (spec page 1.7)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from data_models.plan import PLAN_LIMIT_STEPS, Plan, PlanStep

STEP_LIMIT_CHARS = 500
MINIMUM_STEPS = 2
PLAN_QUESTION = "Shall I go ahead with this plan?"

_ITEM = re.compile(r"^\s{0,8}(?:[-*+•]|\(?\d{1,3}[.)])\s+(?P<text>\S.*)$")
_HEADING = re.compile(r"(?i)^[\s#*_>]{0,8}plan\b")
_NAME = re.compile(r"[A-Za-z][\w-]*")


@dataclass(frozen=True, slots=True)
class StepText:
    """One step as it was written."""

    agent: str
    text: str


def read_plan(text: str, *, names: Sequence[str], facilitator: str) -> tuple[StepText, ...]:
    """Return the steps if `text` is a plan, else nothing.

    It is one if at least two list lines name agents of the team, or if list lines follow a
    line that begins with "Plan"; a listed line there that names nobody is the facilitator's.
    """
    known = {name.casefold(): name for name in names}
    headed = False
    steps: list[StepText] = []
    for line in text.splitlines():
        item = _ITEM.match(line)
        if item is None:
            headed = headed or _HEADING.match(line) is not None
            continue
        agent = _agent_of(item["text"], known) or (facilitator if headed else None)
        if agent is not None:
            steps.append(StepText(agent, _task(item["text"], agent)))
    enough = bool(steps) if headed else len(steps) >= MINIMUM_STEPS
    return tuple(steps[:PLAN_LIMIT_STEPS]) if enough else ()


def plan_message(plan: Plan) -> str:
    """Return `plan` as the text that people read, ending with the question that waits."""
    lines = [f"{step.number}. *{step.agent}*: {step.text}" for step in plan.steps]
    return "\n".join(["Plan:", *lines, "", PLAN_QUESTION])


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
    wanted = [step for step in plan.steps if step.status != "skipped" or step.number == number]
    place = next(index for index, step in enumerate(wanted, 1) if step.number == number)
    step = next(step for step in wanted if step.number == number)
    return f"Step {place} of {len(wanted)}", step


def _as_task(text: str) -> str:
    """Return `text` beginning small, unless it begins with a short form such as CT."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _agent_of(line: str, known: dict[str, str]) -> str | None:
    words = (word.casefold() for word in _NAME.findall(line))
    return next((known[word] for word in words if word in known), None)


def _task(line: str, agent: str) -> str:
    """Return the line without the agent's name where that stands first."""
    bare = re.sub(rf"(?i)^[*_`]*{re.escape(agent)}[*_`]*\s*[:,–—-]?\s*", "", line).strip()
    return (bare or line.strip())[:STEP_LIMIT_CHARS]
