"""Which earlier turns agents are shown: the newest, from a beginning that seldom moves."""

from collections.abc import Sequence

from data_models.chat_context import AgentMessage, Turn
from data_models.plan import Plan

LONG_MESSAGE_SHARE = 3
_EARLIER_SHARE = 2 / 3  # the rest is for the user's message and this turn's answers
_BLOCK_TURNS = 64


def first_shown(earlier: Sequence[Turn], *, window_chars: int, plan: Plan | None = None) -> int:
    """Return the place in `earlier` of the oldest turn within a window of `window_chars`.

    Where the window is full its beginning moves on by half of it at once: prompts of the turns
    that follow begin alike, and their server has read that beginning already. It depends on no
    more than the last 128 turns.

    Args:
        plan: The patient's plan; see `shown_answers`.
    """
    if not earlier:
        return 0
    limit, longest = int(window_chars * _EARLIER_SHARE), window_chars // LONG_MESSAGE_SHARE
    last = earlier[-1].turn_id
    block = max(0, last // _BLOCK_TURNS - 1) * _BLOCK_TURNS
    start = len(earlier)
    while start > 0 and earlier[start - 1].turn_id >= block:
        start -= 1
    sizes = {place: _size(earlier[place], longest, plan) for place in range(start, len(earlier))}
    shown = 0
    for place, size in sizes.items():
        shown += size
        if shown > limit:
            while shown > limit // 2 and start < place:
                shown -= sizes[start]
                start += 1
    return start


def shown_answers(turn: Turn, plan: Plan | None) -> Sequence[AgentMessage]:
    """Return the answers of an earlier turn that agents are shown: of a plan's end, its close.

    The close says what every step found, with its sources; all else recall finds. While `plan`
    is open its steps are shown whole.
    """
    said = turn.agent_responses
    steps = [place for place, one in enumerate(said) if one.plan_step is not None]
    if not steps or steps[-1] == len(said) - 1:
        return said
    if plan is not None and plan.is_open and said[steps[0]].plan_id == plan.plan_id:
        return said
    lead = said[-1].agent
    return [*(one for one in said[: steps[0]] if one.agent != lead), *said[steps[-1] + 1 :]]


def _size(turn: Turn, longest: int, plan: Plan | None) -> int:
    texts = [turn.user_message, *(answer.text for answer in shown_answers(turn, plan))]
    return sum(min(len(text), longest) for text in texts)
