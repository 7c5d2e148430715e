"""Which words of a chart question nothing that is looked up goes back to. Pure.

Each piece of a message is used by what is asked, claims nothing, or is named before the answer: an
answer to less than was asked must never pass for one to all of it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from services.language.chart_parts import EDGES, may_name
from services.language.chart_pieces import Piece
from services.language.chart_words import Lexicon, lexicon, tokens_of
from services.language.events_asked import relations_of
from services.language.folding import fold
from services.language.time_shifts import time_units
from services.language.utterance import ChartQuestion

_WHOLE = frozenset({"chart_summary", "history"})
"""The tools from whose answers nothing is left out."""
_LISTS = frozenset(
    {"problems", "medications", "allergies", "immunizations", "procedures", "encounters", "care"}
)
_OF_VALUES = frozenset({"minimum", "maximum", "average", "change"})
"""What is worked out of values; of a list nobody knows the highest."""
_SIDES = frozenset({"after", "since", "during"})
"""At the end of a question they leave open of what."""
_COURSES = frozenset({"timeline", "encounters", "changes", "search_record"})
"""The tools that tell what happened."""


def unread_in(
    pieces: Sequence[Piece], asked: Sequence[ChartQuestion], words: Lexicon
) -> tuple[str, ...]:
    """Return the words of `pieces` that `asked` leaves out, neighbours together, each once."""
    used = _Used(asked=asked, words=words)
    is_over = any("over" in piece.of("frame") for piece in pieces)
    found: list[list[str]] = [[]]
    for piece in pieces:
        is_left = used.leaves_out(piece) or (not is_over and used.turns_about(piece))
        if is_left:
            found[-1].append(piece.text)
        elif found[-1]:
            found.append([])
    found += [] if is_over else _times_left(pieces, words)
    found += [[piece.text] for piece in pieces if used.leaves_figure(piece)]
    found += [[piece.text] for piece in pieces if used.leaves_limit(piece)]
    if not any(one.around or _is_of_an_age(one) for one in asked):
        sides = {one for one, side in relations_of(words).items() if side in _SIDES}
        last = [one for one in pieces if any(map(str.isalnum, one.text))][-1:]
        is_when = any(one.tool in ("problems", "medications") for one in asked)
        found += [
            [one.text]
            for one in last
            if one.text in sides and not (is_when and "when" in one.of("aspect"))
        ]
    if [(one.name, one.aspect) for one in asked] == [("age", "first")]:  # of nothing that is named
        found += [[piece.text] for piece in pieces if "first" in piece.of("aspect")]
    is_then_of_age = len(asked) > 1 and any(map(_is_of_an_age, asked))
    if not is_then_of_age and not any(one.around or one.span for one in asked):
        is_length = any("lasting" in piece.of("frame") for piece in pieces)
        if {"results", "problems"} <= {
            one.tool for one in asked
        } and not is_length:  # "between the two fractures"
            found += [[one.text] for one in pieces if "apart" in one.of("frame")]
        found += [[piece.text] for piece in thens_in(pieces)]
    return tuple(dict.fromkeys(" ".join(one) for one in found if one))


def _is_of_an_age(question: ChartQuestion) -> bool:
    return question.at_age is not None or question.name == "age"


def thens_in(pieces: Sequence[Piece]) -> list[Piece]:
    """Return what points at a time that was told: "at that time"; of "then" at the end alone."""
    last = next((one for one in reversed(pieces) if any(map(str.isalnum, one.text))), None)
    return [one for one in pieces if one.of("then") and (one is last or len(one.words) > 1)]


def _times_left(pieces: Sequence[Piece], words: Lexicon) -> list[list[str]]:
    """Return units of time of which no days were made: "the last full year"."""
    units = time_units(words.language)
    found: list[list[str]] = []
    for at, piece in enumerate(pieces):
        if piece.text not in units:
            continue
        before = [one for one in pieces[max(0, at - 2) : at] if {*one.of("aspect")} & EDGES]
        behind = [one for one in pieces[at + 1 : at + 2] if "around" in one.of("frame")]
        if before or behind:
            found.append([one.text for one in (*before, piece, *behind)])
    return found


class _Used:
    """What questions use of a message."""

    def __init__(self, *, asked: Sequence[ChartQuestion], words: Lexicon) -> None:
        tools = {one.tool for one in asked}
        self._words = words
        self._said = frozenset(_tokens(_texts(asked)))
        self._is_whole = any(one.tool in _WHOLE and _is_unnamed(one) for one in asked)
        self._is_list = tools <= _LISTS
        self._has_rate = any(one.rate for one in asked)
        self._is_of_measured = "results" in tools
        limits = {"above": [one.above for one in asked], "below": [one.below for one in asked]}
        self._sides = {side for side, each in limits.items() if each != [None] * len(each)}
        self._figures = frozenset(
            float(one) for one in self._said if one.replace(".", "", 1).isdigit()
        )
        self._figures |= {
            each for one in asked for each in (one.above, one.below, one.lower_limit) if each
        }
        self._is_open = all(one.aspect != "whether" for one in asked)
        self._is_course = bool(tools & _COURSES) or any(one.around for one in asked)
        self._is_of_drug = any(one.tool == "medications" and one.name for one in asked)
        self._is_around = any(one.around for one in asked)
        self._is_of_all = any(one.tool == "medications" and not one.name for one in asked)

    def leaves_out(self, piece: Piece) -> bool:
        """Whether a piece limits or names what is asked, and no question has it."""
        is_course = any(topic.tool == "timeline" for topic in piece.of("topic"))
        return (
            bool(piece.of("beyond") or piece.of("excluding"))
            or (not self._has_rate and "per_year" in piece.of("frame"))
            or (not self._is_whole and self._is_left(piece))
            or (self._is_list and self._is_of_values(piece))
            or (is_course and not self._is_course)
            or (self._is_of_all and bool(piece.of("for_it")))
        )

    def leaves_figure(self, piece: Piece) -> bool:
        """Whether it is a figure by which no value is looked up: "K 5.9, when was that?"."""
        said = piece.text.removesuffix("%")
        is_figure = self._is_of_measured and said.replace(".", "", 1).isdigit()
        return is_figure and float(said) not in self._figures

    def leaves_limit(self, piece: Piece) -> bool:
        """Whether it is the other side of a limit: "goal under 100, how often was she above?"."""
        above, below = bool(piece.of("above")), bool(piece.of("below"))
        if not self._is_of_measured and (above or below):  # no list goes by an amount
            return all(label.kind in ("above", "below") for label in piece.labels)
        return (above and self._sides == {"below"}) or (below and self._sides == {"above"})

    def turns_about(self, piece: Piece) -> bool:
        """Whether a piece asks for all others: "which vaccines did she not have?"."""
        return self._is_open and self._is_list and piece.text in self._words.words.negations

    def _is_of_values(self, piece: Piece) -> bool:
        """Whether it asks how values went: the highest, "how did she break it"."""
        asked = {*piece.of("aspect")}
        is_how = "trend" in asked and piece.words[0] in self._words.words.asking
        of_values = _OF_VALUES - ({"change"} if self._is_of_drug else set())  # of its dose
        return is_how or (bool(asked & of_values) and len(piece.labels) == 1)

    def _is_left(self, piece: Piece) -> bool:
        if self._is_around and piece.text in relations_of(self._words):
            return False
        if not may_name(piece, self._words) or any(one.kind != "name" for one in piece.labels):
            return False
        names = {piece.text, *(one.name for one in piece.of("name"))}
        english = lexicon("en").words
        others = ({**english.counted_as, **english.removals}.get(one, one) for one in names)
        return not any(self._said.issuperset(_tokens([one])) for one in {*names, *others})


def _is_unnamed(question: ChartQuestion) -> bool:
    return not question.name or question.tool == "history"


def _texts(asked: Iterable[ChartQuestion]) -> Iterator[str]:
    for one in asked:
        yield from (one.name, one.head, one.by, *map(str, one.arguments.values()))
        yield from _texts(one.around)


def _tokens(texts: Iterable[str]) -> Iterator[str]:
    return (token for text in texts for token in tokens_of(fold(text)[0]))


def with_unread(
    asked: Sequence[ChartQuestion], left: Sequence[str], text: str
) -> tuple[ChartQuestion, ...]:
    """Return the questions, the first with all that they leave out, as `text` has it."""
    typed = {fold(word)[0]: word for word in re.findall(r"\w+", text)}
    whole = [one for one in left if not any(one in other.split()[:-1] for other in left)]
    spelt = (" ".join(typed.get(word, word) for word in one.split()) for one in whole if one)
    unread = ", ".join(spelt)
    if unread:  # a yes would be one to less than was asked
        asked = [replace(one, aspect="all") if _is_yes(one) else one for one in asked]
    first = (
        replace(one, unread=", ".join(filter(None, (one.unread, unread)))) for one in asked[:1]
    )
    return (*first, *asked[1:])


def _is_yes(question: ChartQuestion) -> bool:
    return question.aspect == "whether" and question.tool != "results"
