"""Which turns leave the context document, and what is too large to stay: archived first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from pydantic import TypeAdapter

from data_models.chat_context import AgentMessage, ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from services.memory_blocks.history import HEADER_CHARS, HISTORY_LIMIT_CHARS, size_chars, turn_row
from services.memory_blocks.limits import bound, one_line
from services.records.answers.as_said import left_told

_ROTATE_ABOVE_CHARS = 28_000
ROTATE_ABOVE_TURNS = 25
_ROTATE_DOWN_TO_CHARS = 22_400
KEEP_TURNS = 3
HISTORY_LIMIT_BYTES = 48_000
_ROTATE_DOWN_TO_BYTES = 33_600
_TURNS = TypeAdapter(list[Turn])
_MARK_CHARS = 64
_CITED_CHARS = 1_000
"""Answers that are cut shorter than this lose their sources, too, until they are read whole."""


@dataclass(frozen=True, slots=True)
class RotationRules:
    """When turns leave.

    Attributes:
        enabled: If not, turns stay until the hard limits, and no more leave than must.
    """

    enabled: bool = True

    @property
    def above_chars(self) -> int:
        """More than so many characters make the oldest turns leave."""
        return _ROTATE_ABOVE_CHARS if self.enabled else HISTORY_LIMIT_CHARS


class _Room(NamedTuple):
    chars: int
    utf8_bytes: int
    turns: int


_MOST = _Room(HISTORY_LIMIT_CHARS, HISTORY_LIMIT_BYTES, ROTATE_ABOVE_TURNS)
_SOME = _Room(_ROTATE_DOWN_TO_CHARS, _ROTATE_DOWN_TO_BYTES, ROTATE_ABOVE_TURNS * 7 // 10)


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


_Part: TypeAlias = Literal["answers", "question", "context"]
_LIMITS: Sequence[tuple[_Part, int]] = (
    ("answers", 2_000),
    ("question", 1_500),
    ("answers", 400),
    ("answers", 60),
    ("question", 200),
    ("context", 60),
)


def rotate(turns: Sequence[Turn], *, rules: RotationRules | None = None) -> Rotation:
    """Return the turns split so that they fit 32,000 characters and 48 kB (spec page 4.2, rule 3).

    Above 28,000 characters or 25 turns the oldest leave until 70 % of the limit is left, never
    fewer than the last 3. If those alone are too large, agent text and then user text is shown as
    head and tail, the oldest turn first, and shorter still where a turn has very many answers.
    """
    rules = rules or RotationRules()
    if _has_room(turns, rules):
        return Rotation(archived=(), whole=(), kept=list(turns))
    measured = [_size_of(turn) for turn in turns]
    left, leaving, room = _total(measured), 0, _SOME if rules.enabled else _MOST
    while left.turns > KEEP_TURNS and not _fits(left, room):
        left = _Room(*[whole - one for whole, one in zip(left, measured[leaving], strict=True)])
        leaving += 1
    kept, sizes = list(turns[leaving:]), measured[leaving:]
    for part, limit_chars in _LIMITS:
        for index, turn in enumerate(kept):
            if _fits(_total(sizes), _MOST):
                break
            kept[index] = _shortened(turn, part, limit_chars)
            sizes[index] = _size_of(kept[index])
    # A turn that was shortened before is archived whole since then.
    whole = [
        turn
        for turn, shown in zip(turns[leaving:], kept, strict=True)
        if shown is not turn and not turn.is_shortened
    ]
    return Rotation(archived=turns[:leaving], whole=whole, kept=kept)


def _has_room(turns: Sequence[Turn], rules: RotationRules) -> bool:
    """Whether all turns stay as they are, as after nearly every turn."""
    if len(turns) > ROTATE_ABOVE_TURNS:
        return False
    stored_bytes = len(_TURNS.dump_json(list(turns)))
    if HEADER_CHARS + stored_bytes <= rules.above_chars:
        return True  # a turn is stored in more letters than the block holds of it
    chars = HEADER_CHARS + sum(size_chars(turn_row(turn)) + 1 for turn in turns)
    return chars <= rules.above_chars and stored_bytes <= HISTORY_LIMIT_BYTES


def _fits(size: _Room, room: _Room) -> bool:
    return (
        HEADER_CHARS + size.chars <= room.chars
        and size.utf8_bytes <= room.utf8_bytes
        and size.turns <= room.turns
    )


def _total(sizes: Sequence[_Room]) -> _Room:
    return _Room(*map(sum, zip(*sizes, strict=True)))


def _size_of(turn: Turn) -> _Room:
    # Characters as the block counts them, a comma with each turn; bytes as the document is stored.
    return _Room(size_chars(turn_row(turn)) + 1, turn.stored_bytes(), 1)


def head_and_tail(
    text: str, limit_chars: int, *, turn_id: int, whole_chars: int | None = None
) -> str:
    """Return `text`, or its head and tail around a mark of how much is left out, and where it is.

    Args:
        text: May be head and tail of a longer text already.
        limit_chars: Characters to keep, without the mark.
        turn_id: The turn in whose archive the whole text is.
        whole_chars: Characters of that longer text.
    """
    if len(text) <= limit_chars:
        return text
    head, tail = limit_chars * 2 // 3, limit_chars // 3
    left_out = (whole_chars or len(text)) - head - tail
    mark = f"[… {left_out} characters left out, whole in turn {turn_id} …]"
    return f"{text[:head]}\n{mark}\n{text[-tail:]}"


def _shortened(turn: Turn, part: _Part, limit_chars: int) -> Turn:
    """Return `turn` itself where nothing in it is longer."""
    match part:
        case "question":
            if len(turn.user_message) <= limit_chars + _MARK_CHARS:
                return turn
            whole = turn.shortened_from_chars or len(turn.user_message)
            said = head_and_tail(
                turn.user_message, limit_chars, turn_id=turn.turn_id, whole_chars=whole
            )
            return turn.model_copy(update={"user_message": said, "shortened_from_chars": whole})
        case "context":
            if (enriched := turn.context_enrichment) is None:
                return turn
            update = {
                "previous_context": one_line(enriched.previous_context, limit_chars),
                "enriched_message": one_line(enriched.enriched_message, limit_chars),
                "relevant_history": enriched.relevant_history[:limit_chars],
            }
            return turn.model_copy(
                update={"context_enrichment": enriched.model_copy(update=update)}
            )
        case "answers":
            said_by = turn.agent_responses
            answers = [_short_answer(one, limit_chars, turn.turn_id) for one in said_by]
            is_same = all(new is old for new, old in zip(answers, said_by, strict=True))
            return turn if is_same else turn.model_copy(update={"agent_responses": answers})


def _short_answer(answer: AgentMessage, limit_chars: int, turn_id: int) -> AgentMessage:
    citations = answer.citations if limit_chars >= _CITED_CHARS else []
    if len(answer.text) <= limit_chars + _MARK_CHARS and citations == answer.citations:
        return answer
    whole = answer.shortened_from_chars or len(answer.text)
    update = {
        "text": head_and_tail(answer.text, limit_chars, turn_id=turn_id, whole_chars=whole),
        "shortened_from_chars": whole,
        "citations": citations,
    }
    return answer.model_copy(update=update)


async def make_room(
    contexts: ChatContextAccessor, context: ChatContext, *, rules: RotationRules | None = None
) -> None:
    """Bring `context` within its limits; the caller stores it.

    The oldest turns move out and what is too large is shortened: archived first and removed
    after, so that a crash between leaves turns in both places, and a reader takes each id once.
    """
    rotation = rotate(context.chat_history, rules=rules)
    for whole in rotation.whole:
        await contexts.archive(context, [whole])
    if rotation.archived:
        await contexts.archive(context, rotation.archived)
        leaving = {one.turn_id for one in (*context.told, *rotation.archived)}
        context.told = left_told(context.heard, leaving)
        context.memory.last_archival = context.chat_history[-1].timestamp
        for entry in context.memory.flow:
            if entry.turn_id < rotation.kept[0].turn_id:
                entry.routed = entry.answered = ""
    context.chat_history = list(rotation.kept)
    bound(context.memory)


async def make_storable(
    contexts: ChatContextAccessor,
    context: ChatContext,
    running: Turn,
    *,
    rules: RotationRules | None = None,
) -> ChatContext:
    """Return `context` as it may be stored while `running` goes on.

    What has left has left, but the running turn stays whole in `context`: it is stored as head
    and tail if it must be, and its whole text is archived anew when it ends.
    """
    stored = context.model_copy()
    await make_room(contexts, stored, rules=rules)
    kept = [running if one.turn_id == running.turn_id else one for one in stored.chat_history]
    context.chat_history, context.told = kept, stored.told
    return stored
