"""What prompts show of the statements that users made about the patient. Pure.

A corrected or retired statement is shown in its new form or not at all: neither the window of
turns nor the summary repeats the old words (spec page 12.1).
"""

import re
from collections.abc import Sequence

from data_models.chat_context import AgentMessage, ChatContext, Turn
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
    """Return the words of a held statement: a person's correction, else those that said it."""
    return point.text if is_withdrawn(point) or not point.quote else point.quote


def notes_of(context: ChatContext) -> list[str]:
    """Return what workflows noted of the patient and nobody took back, oldest first."""
    points = context.memory.key_points
    return [one.text for one in points if one.kind == NOTE and one.status == "active"]


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
    words = point.quote.strip(" .!;").split()
    if not words:
        return text
    quote = r"\s+".join(map(re.escape, words))
    new = f"[corrected: {point.text}]" if point.status == "active" else WITHDRAWN
    return re.sub(quote, lambda _: new, text, flags=re.IGNORECASE)
