"""Decides which turns leave the context document, and shortens what is too large to stay. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from data_models.chat_context import AgentMessage, Turn

ROTATE_ABOVE_CHARS = 28_000
ROTATE_ABOVE_TURNS = 25
ROTATE_DOWN_TO_CHARS = 22_400
KEEP_TURNS = 3
HISTORY_LIMIT_CHARS = 32_000
HISTORY_LIMIT_BYTES = 48_000
_ROTATE_DOWN_TO_BYTES = 33_600
_MARK_CHARS = 50
_CITED_CHARS = 1_000
"""Answers that are cut shorter than this lose their sources, too, until they are read whole."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """What to archive, and what stays.

    Attributes:
        archived: Whole turns that leave the document, oldest first.
        whole: Turns that stay shortened; their whole text is archived one by one.
        kept: The document's turns afterwards, oldest first.
    """

    archived: Sequence[Turn]
    whole: Sequence[Turn]
    kept: Sequence[Turn]


@dataclass(frozen=True, slots=True)
class _Limit:
    part: Literal["answers", "question"]
    chars: int


_LIMITS = (
    _Limit("answers", 2_000),
    _Limit("question", 1_500),
    _Limit("answers", 400),
    _Limit("answers", 60),
    _Limit("question", 200),
)


@dataclass(frozen=True, slots=True)
class _Size:
    chars: int
    utf8_bytes: int

    def __add__(self, other: "_Size") -> "_Size":
        return _Size(self.chars + other.chars, self.utf8_bytes + other.utf8_bytes)


def rotate(turns: Sequence[Turn]) -> Rotation:
    """Return the turns split so that they fit 32,000 characters and 48 kB (spec page 4.2, rule 3).

    Above 28,000 characters or 25 turns the oldest leave until 70 % of the limit is left, never
    fewer than the last 3. If those alone are too large, agent text and then user text is shown as
    head and tail, the oldest turn first, and shorter still where a turn has very many answers.
    """
    leaving = _leaving([_turn_size(turn) for turn in turns])
    kept = list(turns[leaving:])
    sizes = [_turn_size(turn) for turn in kept]
    for limit in _LIMITS:
        for index, turn in enumerate(kept):
            if _fits(_total(sizes)):
                break
            kept[index] = _shortened(turn, limit)
            sizes[index] = _turn_size(kept[index])
    # A turn that was shortened before is archived whole since then.
    whole = [
        turn
        for turn, shown in zip(turns[leaving:], kept, strict=True)
        if shown is not turn and not _is_shortened(turn)
    ]
    return Rotation(archived=turns[:leaving], whole=whole, kept=kept)


def _leaving(sizes: Sequence[_Size]) -> int:
    total = _total(sizes)
    full = total.chars > ROTATE_ABOVE_CHARS or total.utf8_bytes > HISTORY_LIMIT_BYTES
    if not full and len(sizes) <= ROTATE_ABOVE_TURNS:
        return 0
    leaving = 0
    while len(sizes) - leaving > KEEP_TURNS and not _is_down(sizes[leaving:]):
        leaving += 1
    return leaving


def _is_down(sizes: Sequence[_Size]) -> bool:
    total = _total(sizes)
    return (
        total.chars <= ROTATE_DOWN_TO_CHARS
        and total.utf8_bytes <= _ROTATE_DOWN_TO_BYTES
        and len(sizes) <= ROTATE_ABOVE_TURNS * 7 // 10
    )


def _fits(size: _Size) -> bool:
    return size.chars <= HISTORY_LIMIT_CHARS and size.utf8_bytes <= HISTORY_LIMIT_BYTES


def _turn_size(turn: Turn) -> _Size:
    # What is stored: the turn's own JSON, as characters and as UTF-8.
    encoded = turn.model_dump_json()
    return _Size(len(encoded), len(encoded.encode()))


def _total(sizes: Sequence[_Size]) -> _Size:
    return sum(sizes, start=_Size(0, 0))


def head_and_tail(text: str, limit_chars: int, *, whole_chars: int | None = None) -> str:
    """Return `text`, or its head and tail around a mark of how much is left out.

    Args:
        text: May be head and tail of a longer text already.
        limit_chars: Characters to keep, without the mark.
        whole_chars: Characters of that longer text.
    """
    if len(text) <= limit_chars:
        return text
    head, tail = limit_chars * 2 // 3, limit_chars // 3
    left_out = (whole_chars or len(text)) - head - tail
    return f"{text[:head]}\n[… {left_out} characters left out …]\n{text[-tail:]}"


def _is_shortened(turn: Turn) -> bool:
    shortened = [answer.shortened_from_chars for answer in turn.agent_responses]
    return any(each is not None for each in [turn.shortened_from_chars, *shortened])


def _shortened(turn: Turn, limit: _Limit) -> Turn:
    """Return `turn` itself where nothing in it is longer."""
    if limit.part == "question":
        return _with_short_question(turn, limit.chars)
    answers = [_short_answer(answer, limit.chars) for answer in turn.agent_responses]
    if all(new is old for new, old in zip(answers, turn.agent_responses, strict=True)):
        return turn
    return turn.model_copy(update={"agent_responses": answers})


def _short_answer(answer: AgentMessage, limit_chars: int) -> AgentMessage:
    citations = answer.citations if limit_chars >= _CITED_CHARS else []
    if len(answer.text) <= limit_chars + _MARK_CHARS and citations == answer.citations:
        return answer
    whole = answer.shortened_from_chars or len(answer.text)
    update = {
        "text": head_and_tail(answer.text, limit_chars, whole_chars=whole),
        "shortened_from_chars": whole,
        "citations": citations,
    }
    return answer.model_copy(update=update)


def _with_short_question(turn: Turn, limit_chars: int) -> Turn:
    if len(turn.user_message) <= limit_chars + _MARK_CHARS:
        return turn
    whole = turn.shortened_from_chars or len(turn.user_message)
    update = {
        "user_message": head_and_tail(turn.user_message, limit_chars, whole_chars=whole),
        "shortened_from_chars": whole,
    }
    return turn.model_copy(update=update)
