"""A plan as people read it, and who answers the user's message: the gate, the plan, who waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from data_models.chat_context import Continuation
from data_models.conversations.incoming_message import Press
from data_models.conversations.plan import Plan, PlanStep, StepEdit
from services.language.replies.addressing import calls_in
from services.language.replies.plan_change import PlanChange, begins_change, plan_change_in
from services.language.replies.yes_no import says_no, yes_no_in
from services.language.requests.work import points_only
from services.language.words.phrases import says

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
    # It begins small, unless with a short form such as CT.
    task = step.text if step.text[1:2].isupper() else step.text[:1].lower() + step.text[1:]
    return f"{head}: *{step.agent}*, {task}"


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


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The user confirmed: run the plan's steps, in `order` and with `edits` if they chose so.

    Attributes:
        insists: The user wants the next step to run without what it needs.
        change: What the user changed in it, in words that are understood whole.
    """

    order: tuple[int, ...] | None = None
    edits: tuple[StepEdit, ...] = ()
    insists: bool = False
    change: PlanChange | None = None


@dataclass(frozen=True, slots=True)
class CancelPlan:
    """The user cancelled the plan."""


@dataclass(frozen=True, slots=True)
class Resume:
    """The agent that waited for the user goes on."""

    agent: str
    step: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """`agent` answers; it was addressed, or it is the facilitator."""

    agent: str


@dataclass(frozen=True, slots=True)
class ShowPlan:
    """The user changes the plan in words that are not understood whole: `agent` sees to it.

    Attributes:
        text: What is said instead, where that is known.
    """

    agent: str
    text: str = ""


Opening: TypeAlias = RunPlan | CancelPlan | ShowPlan | Resume | Answer


def opening(  # the inputs of one controller, all named
    *,
    text: str,
    press: Press | None,
    addressed: str | None,
    plan: Plan | None,
    continuation: Continuation | None,
    facilitator: str,
    names: Sequence[str],
    intended: str | None = None,
    missing: Sequence[str] = (),
    former: Mapping[str, str] = MappingProxyType({}),
) -> Opening:
    """Return who answers: the first rule that fits.

    An open plan takes its yes, its no and its changes; whatever else is said beside it is answered
    as if there were none.

    Args:
        intended: Who the message is for by what it asks, if that is sure.
        addressed: The agent whose own bot received the message, or whom the channel marked.
        former: Agents by names that they had once.
        missing: What of the continuation's `waits_for` is still unknown, this message read.
    """
    if press is not None and plan is not None and plan.is_open:
        if press.answer == "confirm":
            # A plan that runs already is as it was confirmed.
            proposed = plan.status == "proposed"
            return RunPlan(press.steps, press.edits) if proposed else RunPlan()
        return CancelPlan() if press.answer == "cancel" else Answer(facilitator)
    spoken_to, words = _spoken_to(text, addressed, names, facilitator, former)
    if spoken_to is not None and spoken_to != facilitator:
        return Answer(spoken_to)
    waits = continuation is not None and bool(continuation.waits_for) and is_running(plan)
    if waits and continuation is not None:
        reply = _reply_to_needs(words, continuation, missing)
    elif continuation is not None and continuation.agent in names and spoken_to is None:
        # Asked after the plan was shown: what is said now answers that.
        return Resume(continuation.agent, continuation.plan_step)
    else:
        reply = None if plan is None else _reply_to_plan(words, plan, names, facilitator)
    if reply is not None:
        return reply
    if spoken_to is not None:
        return Answer(facilitator)
    return Answer(intended if intended is not None and intended in names else facilitator)


def named_by_others(first: Opening, text: str, plan: Plan | None, asked_by: str) -> Opening:
    """Return `first`; who did not ask for a plan starts it by naming it, not by a bare yes.

    Args:
        asked_by: Who else of a group asked for it; "" where the user did.
    """
    is_bare = first == RunPlan() and plan is not None and plan.status == "proposed"
    is_named = not asked_by or says(text, "names_plan")
    return ShowPlan("", others_plan_line(asked_by)) if is_bare and not is_named else first


def of_last_deed(first: Opening, text: str, doer: str | None) -> Opening:
    """Return `first`; "cancel that" means what was just done, and no plan that lies open beside it.

    Args:
        doer: Who did something of the user's own in the turn before; None: nobody.
    """
    if doer is None or first != CancelPlan() or not points_only(text):
        return first
    return Answer(doer)


def is_running(plan: Plan | None) -> bool:
    """Tell whether the user confirmed the plan and it has not ended."""
    return plan is not None and plan.status == "running"


def _reply_to_needs(
    words: str, continuation: Continuation, missing: Sequence[str]
) -> Opening | None:
    """Return how a blocked plan goes on: with what was filled, without it, or not at all."""
    if _agrees(words):
        return RunPlan(insists=bool(missing))
    if says_no(words):
        return CancelPlan()
    return RunPlan() if len(missing) < len(continuation.waits_for) else None


def _reply_to_plan(
    words: str, plan: Plan, names: Sequence[str], facilitator: str
) -> Opening | None:
    """Return what `words` do with an open plan; None if they speak of something else."""
    if not plan.is_open:
        return None
    if _agrees(words):
        return RunPlan()
    if says_no(words) or says(words, "cancels_plan"):
        return CancelPlan()
    tasks = {step.number: step.text for step in plan.steps if step.status == "pending"}
    if (change := plan_change_in(words, names=names, tasks=tasks)) is not None:
        return RunPlan(change=change)
    if says(words, "asks_plan_open"):
        return ShowPlan("", still_open_line(plan))
    if says(words, "asks_plan"):
        return ShowPlan("", plan_message(plan))
    is_shown = yes_no_in(words) == "yes_with_changes" or begins_change(words)
    return ShowPlan(facilitator) if is_shown else None


def _agrees(words: str) -> bool:
    return yes_no_in(words) == "yes" and not says(words, "thanks")  # "ok thx" starts nothing


def _spoken_to(
    text: str,
    addressed: str | None,
    names: Sequence[str],
    facilitator: str,
    former: Mapping[str, str],
) -> tuple[str | None, str]:
    """Return whom the user addresses, if anybody, and what is said to them."""
    known = {old.casefold(): name for old, name in former.items()}
    known |= {name.casefold(): name for name in names}
    for called, words in calls_in(text):
        if (name := known.get(called.casefold())) is not None:
            return name, words
    # In a group every message has to mention the facilitator's bot: that addresses nobody.
    marked = known.get(addressed.casefold()) if addressed is not None else None
    return None if marked == facilitator else marked, text
