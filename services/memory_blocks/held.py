"""What prompts show of the statements that users made about the patient. Pure.

A corrected or retired statement is shown in its new form or not at all: neither the window of
turns nor the summary repeats the old words (spec page 12.1).
"""

import re
from collections.abc import Sequence

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.conversations.plan import Plan
from data_models.memory_blocks import NOTE, KeyPoint

HEADING = "Said of this patient by users in this conversation; not from the record:"
WITHDRAWN = "[withdrawn]"
SHOWN_LIMIT = 30


def held_lines(context: ChatContext) -> str:
    """Return the statements that are held, the newest last; "" while there are none."""
    held = [one for one in context.memory.key_points if one.status == "active"][-SHOWN_LIMIT:]
    return "\n".join([HEADING, *map(_line, held)]) if held else ""


def shown_history(context: ChatContext, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return `turns` without the words of statements that were corrected or withdrawn."""
    gone = [one for one in context.memory.key_points if is_withdrawn(one)]
    return tuple(_without(turn, gone) for turn in turns) if gone else tuple(turns)


def without_withdrawn(context: ChatContext, text: str) -> str:
    """Return `text` without the words of statements that were corrected or withdrawn."""
    for point in context.memory.key_points:
        if is_withdrawn(point):
            text = _replaced(text, point)
    return text


def said_now(point: KeyPoint) -> str:
    """Return the words of a held statement: those that said it, if they say all of it."""
    value = point.text.partition(": ")[2]
    if is_withdrawn(point) or not point.quote:
        return point.text
    is_whole = point.source == "model" or value.casefold() in point.quote.casefold() or "(" in value
    return point.quote if is_whole else value if point.kind == NOTE else point.text


def is_withdrawn(point: KeyPoint) -> bool:
    """Whether the words that once said it must not be shown any more."""
    is_corrected = point.source == "person" and bool(point.was)
    return bool(point.quote) and (is_corrected or point.status in ("retired", "superseded"))


def _line(point: KeyPoint) -> str:
    if point.source == "person":
        return f"- {point.text} (as a user put it right)" if point.was else f"- {point.text}"
    if point.kind == NOTE and not point.quote:
        return f"- {point.text} (noted by {point.said_by} from the user's answers)"
    by = point.said_by or "a user"
    said = ", ".join(filter(None, (by, point.said_on, f"turn {point.turn_id}")))
    return f"- {point.text} ({said}: “{point.quote}”)"


def _without(turn: Turn, gone: Sequence[KeyPoint]) -> Turn:
    said, answers = turn.user_message, list(turn.agent_responses)
    for point in gone:
        said = _replaced(said, point)
        answers = [_answer_without(answer, point) for answer in answers]
    if said == turn.user_message and answers == turn.agent_responses:
        return turn
    return turn.model_copy(update={"user_message": said, "agent_responses": answers})


def _answer_without(answer: AgentMessage, point: KeyPoint) -> AgentMessage:
    text = _replaced(answer.text, point)
    return answer if text == answer.text else answer.model_copy(update={"text": text})


def _replaced(text: str, point: KeyPoint) -> str:
    """Replace the quote however its words are spaced and however it ends."""
    if not (words := point.quote.strip(" .!;").split()):
        return text
    quote = r"\s+".join(map(re.escape, words))
    new = f"[corrected: {point.text}]" if point.status == "active" else WITHDRAWN
    return re.sub(quote, lambda _: new, text, flags=re.IGNORECASE)


# Which earlier turns agents are shown: the newest, from a beginning that seldom moves.

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
    start = next(place for place, one in enumerate(earlier) if one.turn_id >= block)
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
    if len(said) < 2:
        return said
    steps = [place for place, one in enumerate(said) if one.plan_step is not None]
    if not steps or steps[-1] == len(said) - 1:
        return said
    if plan is not None and plan.is_open and said[steps[0]].plan_id == plan.plan_id:
        return said
    lead = said[-1].agent
    return [*(one for one in said[: steps[0]] if one.agent != lead), *said[steps[-1] + 1 :]]


def _size(turn: Turn, longest: int, plan: Plan | None) -> int:
    said = turn.agent_responses
    shown = shown_answers(turn, plan) if len(said) > 1 else said
    return sum([min(longest, len(text)) for text in [turn.user_message, *[a.text for a in shown]]])
