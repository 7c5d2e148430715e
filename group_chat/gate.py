"""Who answers the user's message (spec page 1.7): the gate, the plan, the one who waits."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from data_models.chat_context import Continuation
from data_models.incoming_message import Press
from data_models.plan import Plan, StepEdit
from services.language.yes_no import says_no, yes_no_in

_AT = re.compile(r"^\s*@\s*([A-Za-z][\w-]*)[\s,:.!-]*")
_COLON = re.compile(r"^\s*\*{0,2}([A-Za-z][\w-]*)\*{0,2}\s*:\s*")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The user confirmed: run the plan's steps, in `order` and with `edits` if they chose so.

    Attributes:
        insists: The user wants the next step to run without what it needs.
    """

    order: tuple[int, ...] | None = None
    edits: tuple[StepEdit, ...] = ()
    insists: bool = False


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


Opening: TypeAlias = RunPlan | CancelPlan | Resume | Answer


def opening(  # the inputs of one table, all named
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
) -> Opening:
    """Return who answers: the first rule that fits, in the order of page 1.7.

    Args:
        intended: Who the message is for by its intent, if that is sure.
        addressed: The agent whose own bot received the message, or whom the channel marked.
        missing: What of the continuation's `waits_for` is still unknown, this message read.
    """
    if press is not None and plan is not None and plan.is_open:
        return _pressed(press, plan, facilitator)
    spoken_to, words = _spoken_to(text, addressed, names, facilitator)
    if spoken_to is not None and spoken_to != facilitator:
        return Answer(spoken_to)
    if plan is not None and plan.status == "proposed":
        return _reply_to_plan(words) or Answer(facilitator)
    if spoken_to is not None:
        return Answer(facilitator)
    if continuation is not None and continuation.waits_for and is_running(plan):
        return _reply_to_needs(words, continuation, missing) or Answer(facilitator)
    if continuation is not None and continuation.agent in names:
        return Resume(continuation.agent, continuation.plan_step)
    if is_running(plan):
        return _reply_to_plan(words) or Answer(facilitator)
    return Answer(intended if intended is not None and intended in names else facilitator)


def _pressed(press: Press, plan: Plan, facilitator: str) -> Opening:
    if press.answer == "confirm":
        # A plan that runs already is as it was confirmed.
        proposed = plan.status == "proposed"
        return RunPlan(press.steps, press.edits) if proposed else RunPlan()
    return CancelPlan() if press.answer == "cancel" else Answer(facilitator)


def is_running(plan: Plan | None) -> bool:
    """Tell whether the user confirmed the plan and it has not ended."""
    return plan is not None and plan.status == "running"


def _reply_to_needs(
    words: str, continuation: Continuation, missing: Sequence[str]
) -> Opening | None:
    """Return how a blocked plan goes on: with what was filled, without it, or not at all."""
    if yes_no_in(words) == "yes":
        return RunPlan(insists=bool(missing))
    if says_no(words):
        return CancelPlan()
    return RunPlan() if len(missing) < len(continuation.waits_for) else None


def _reply_to_plan(words: str) -> Opening | None:
    if yes_no_in(words) == "yes":
        return RunPlan()
    return CancelPlan() if says_no(words) else None


def _spoken_to(
    text: str, addressed: str | None, names: Sequence[str], facilitator: str
) -> tuple[str | None, str]:
    """Return whom the user addresses, if anybody, and what is said to them."""
    known = {name.casefold(): name for name in names}
    for pattern in (_AT, _COLON):
        found = pattern.match(text)
        if found is not None and (name := known.get(found[1].casefold())) is not None:
            return name, text[found.end() :]
    # In a group every message has to mention the facilitator's bot: that addresses nobody.
    marked = known.get(addressed.casefold()) if addressed is not None else None
    return None if marked == facilitator else marked, text
