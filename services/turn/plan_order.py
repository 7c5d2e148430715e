"""Where a message of a plan's step stands among those of its turn. Pure."""

from collections.abc import Sequence

from data_models.chat_context import AgentMessage
from data_models.plan import Plan


def place_of(message: AgentMessage, said: Sequence[AgentMessage], plan: Plan | None) -> int:
    """Return where in `said` a finished message goes: behind all, steps in the plan's order.

    Steps that run side by side end in any order; the history is the same whichever it was.
    """
    order = [step.number for step in plan.steps] if plan is not None else []
    at = len(said)
    while at > 0 and _is_behind(said[at - 1], message, order):
        at -= 1
    return at


def _is_behind(other: AgentMessage, message: AgentMessage, order: Sequence[int]) -> bool:
    if other.plan_id is None or other.plan_id != message.plan_id:
        return False
    theirs, ours = other.plan_step, message.plan_step
    if theirs not in order or ours not in order:
        return False
    return order.index(theirs) > order.index(ours)
