"""Which words of a chart question nothing that is looked up goes back to. Pure.

Each piece of a message is used by what is asked, claims nothing, or is named before the answer: an
answer to less than was asked must never pass for one to all of it.
"""

from collections.abc import Iterable, Iterator, Sequence

from services.language.chart_parts import may_name
from services.language.chart_words import Lexicon, Piece, lexicon, tokens_of
from services.language.folding import fold
from services.language.utterance import ChartQuestion

_WHOLE = frozenset({"chart_summary", "history"})
"""The tools from whose answers nothing is left out."""
_LISTS = frozenset(
    {"problems", "medications", "allergies", "immunizations", "procedures", "encounters", "care"}
)
_OF_VALUES = frozenset({"minimum", "maximum", "average", "change"})
"""What is worked out of values; of a list nobody knows the highest."""


def unread_in(
    pieces: Sequence[Piece], asked: Sequence[ChartQuestion], words: Lexicon
) -> tuple[str, ...]:
    """Return the words of `pieces` that `asked` leaves out, neighbours together, each once."""
    used = frozenset(_tokens(_texts(asked)))
    is_whole = any(map(_tells_all, asked))
    is_list = {one.tool for one in asked} <= _LISTS
    is_open = all(one.aspect != "whether" for one in asked)
    is_open &= not any("over" in piece.of("frame") for piece in pieces)
    found: list[list[str]] = []
    is_behind = False
    for piece in pieces:
        is_left = _is_beyond(piece) or (not is_whole and _is_left_out(piece, used, words))
        is_left |= is_list and _is_of_values(piece, words)
        is_left |= is_open and is_list and _negates(piece, words)
        if is_left and is_behind:
            found[-1].append(piece.text)
        elif is_left:
            found.append([piece.text])
        is_behind = is_left
    return tuple(dict.fromkeys(" ".join(one) for one in found))


def _tells_all(question: ChartQuestion) -> bool:
    return question.tool in _WHOLE and (not question.name or question.tool == "history")


def _negates(piece: Piece, words: Lexicon) -> bool:
    return piece.text in words.words.negations


def _is_beyond(piece: Piece) -> bool:
    """Whether it limits what is asked by what no answer knows: fasting, regularly, per year."""
    return bool(piece.of("beyond"))


def _is_of_values(piece: Piece, words: Lexicon) -> bool:
    """Whether it asks how values went: the longest, "how did she break it"."""
    asked = {*piece.of("aspect")}
    is_how = "trend" in asked and piece.words[0] in words.words.asking
    return is_how or (bool(asked & _OF_VALUES) and len(piece.labels) == 1)


def _is_left_out(piece: Piece, used: frozenset[str], words: Lexicon) -> bool:
    if not may_name(piece, words) or any(one.kind != "name" for one in piece.labels):
        return False
    names = {one.name for one in piece.of("name")}
    english = lexicon("en").words
    meant = {english.counted_as.get(one, one) for one in names}
    meant |= {english.removals.get(one, one) for one in names}
    return not any(used.issuperset(_tokens([said])) for said in {piece.text, *names, *meant})


def _texts(asked: Iterable[ChartQuestion]) -> Iterator[str]:
    for one in asked:
        yield from (one.name, one.head, *map(str, one.arguments.values()))
        yield from _texts(one.around)


def _tokens(texts: Iterable[str]) -> Iterator[str]:
    return (token for text in texts for token in tokens_of(fold(text)[0]))
