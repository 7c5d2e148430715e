"""Which words of a chart question nothing that is looked up goes back to. Pure.

Each piece of a message is used by what is asked, claims nothing, or is named before the answer: an
answer to less than was asked must never pass for one to all of it. That is asked once, of the
questions that were read, by what each piece is: no rule that reads has to say what it left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from services.language.charts.chart_parts import EDGES, REPORTS
from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon, lexicon
from services.language.charts.named_runs import has_sides, may_name
from services.language.charts.tools_named import GIVEN_FOR, ills_shown_by
from services.language.questions.chart_text import SaidOfChart
from services.language.questions.events_asked import relations_of, side_of
from services.language.questions.question_figures import figure_in
from services.language.questions.time_shifts import time_units
from services.language.utterance import Aspect, ChartQuestion
from services.language.words.folding import fold, tokens_of

_WHOLE = frozenset({"chart_summary", "history"})
"""The tools from whose answers nothing is left out."""
_LISTS = frozenset(
    {"problems", "medications", "allergies", "immunizations", "procedures", "encounters", "care"}
)
_BEGIN = frozenset({"problems", "medications", "allergies"})
"""The lists whose rows are told since their first day."""
_OF_VALUES: frozenset[Aspect] = frozenset({"minimum", "maximum", "average", "change"})
"""What is worked out of values; of a list nobody knows the highest."""
_TELLS: Mapping[Aspect, frozenset[Aspect]] = {
    "extremes": frozenset({"minimum", "maximum"}),
    "change": frozenset({"first", "minimum", "maximum"}),
    "trend": frozenset({"first", "change"}),
}
"""What an answer tells besides its own aspect."""
_DAYS = frozenset({"since", "until"})
"""Arguments that are cut from the text as days: their figures are no others of it."""
_LIMITS = frozenset({"above", "below"})
_SIDES = frozenset({"after", "before", "during"})
"""One word says one of these; "since" and "from" are also said of what has no days."""
_OPEN_SIDES = frozenset({"after", "since", "during"})
"""At the end of a question they leave open of what."""
_TIMES = frozenset({"timeline", "changes"})
"""The tools that tell what came after something without its days."""
_COURSES = frozenset({*_TIMES, "encounters", "search_record"})
"""The tools that tell what happened."""


def unread_in(
    pieces: Sequence[Piece], asked: Sequence[ChartQuestion], words: Lexicon
) -> tuple[str, ...]:
    """Return the words of `pieces` that `asked` leaves out, neighbours together, each once."""
    used = _Used(asked=asked, pieces=pieces, words=words)
    found: list[list[str]] = [[]]
    for piece in pieces:
        if used.leaves_out(piece):
            found[-1].append(piece.text)
        elif found[-1]:
            found.append([])
    found += [] if used.is_over else _times_left(pieces, words)
    return tuple(dict.fromkeys(" ".join(one) for one in found if one))


def thens_in(pieces: Sequence[Piece]) -> list[Piece]:
    """Return what points at a time that was told: "at that time"; of "then" at the end alone."""
    last = next((one for one in reversed(pieces) if any(map(str.isalnum, one.text))), None)
    return [one for one in pieces if "then" in one.by_kind and (one is last or len(one.words) > 1)]


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

    def __init__(
        self, *, asked: Sequence[ChartQuestion], pieces: Sequence[Piece], words: Lexicon
    ) -> None:
        every = [*asked, *(each for one in asked for each in one.around)]
        self._words = words
        self._asked, self._every, self._pieces = asked, every, pieces
        self._said = frozenset(_tokens(_texts(asked)))
        named = {one.name for piece in pieces for one in (*piece.of("name"), *piece.of("topic"))}
        own = {word for each in (*named, *(one.text for one in pieces)) for word in tokens_of(each)}
        given = (one for one in asked if one.tool in {*GIVEN_FOR, "current_status"})
        self._is_of_any = any({*_tokens(_texts([one]))} <= own for one in given)  # not of one thing
        self._is_whole = any(
            one.tool in _WHOLE and (not one.name or one.tool == "history") for one in asked
        )
        self._tools = {one.tool for one in asked}
        self._is_list = self._tools <= _LISTS
        is_bare_age = [(one.name, one.aspect) for one in asked] == [("age", "first")]  # of nothing
        self._aspects = {each for one in every for each in _told_by(one) if not is_bare_age}
        self._figures = frozenset((*_figures(every), *_in_ids(pieces)))
        self._limits = {"above"} if any(one.above is not None for one in asked) else set[str]()
        self._limits |= {"below"} if any(one.below is not None for one in asked) else set()
        is_course = len(asked) == 1 and asked[0].aspect in ("change", "trend")
        whens = {one.when for one in asked if one.around}
        self._whens = whens if whens <= {"before", "after"} else set[str]()
        self._has_days = is_course or any(map(_has_days, asked))
        self._is_open = all(one.aspect != "whether" for one in asked)
        self._is_of_effect = any(one.part == "effect" for one in asked)
        self._is_of_drug = any(one.tool == "medications" and one.name for one in asked)
        self._thens = [] if self._is_then() else thens_in(pieces)
        told = " ".join(one.text for one in pieces if any(map(str.isalnum, one.text)))
        # "And the year after?"
        is_moved = self._has_days and any(map(told.endswith, words.words.unit_after.values()))
        self._begins = any(one.aspect == "when" and one.tool in _BEGIN for one in asked)
        has_side = is_moved or self._begins or any(_is_of_time(q) or _is_since(q) for q in asked)
        self._loose_end = None if has_side else _side_at_end(pieces, words)
        self.is_over = any("over" in piece.of("frame") for piece in pieces)

    def leaves_out(self, piece: Piece) -> bool:
        """Whether a piece names, limits or turns about what is asked, and no question has it."""
        is_of_dose = "dose" in piece.of("part") or {*piece.of("aspect")} & _TELLS["extremes"]
        if is_of_dose and any(one.part == "dose" for one in self._asked):
            return False  # "how much a day?", "the highest rate": each is told
        # A figure by which nothing is looked up is left, too: "K 5.9, when was that?".
        is_left = self._is_name_left(piece)
        is_left |= figure_in(piece, self._words) not in {None, *self._figures}
        is_told = self._is_of_effect and "helped" in piece.of("frame")
        is_beyond = bool(piece.of("beyond")) and not is_told and not piece.of("name")
        is_left = bool(is_beyond or piece.of("excluding")) or (not self._is_whole and is_left)
        return (
            is_left
            or piece in self._thens
            or self._turns_about(piece)
            or self._is_aspect_left(piece)
            or self._is_limit_left(piece)
            or self._is_time_left(piece)
            or self._is_worked_out_left(piece)
            or self._is_topic_left(piece)
        )

    def _is_name_left(self, piece: Piece) -> bool:
        """Whether it is a name, or stands for one, and nothing is looked up by it."""
        is_beside = any(one.around or _is_since(one) for one in self._asked)
        if piece.text in relations_of(self._words) and is_beside:
            return False
        if has_sides(piece) and any(one.part == "side" for one in self._asked):
            return False  # "which arm?"
        is_kin = piece.text in self._words.words.kin
        if is_kin and any(one.name == "contact person" for one in self._asked):
            return False
        if not may_name(piece, self._words) or any(one.kind != "name" for one in piece.labels):
            return False
        names = {piece.text, *(one.name for one in piece.of("name"))}
        names |= {self._words.words.markers.get(piece.text, piece.text)}
        english = lexicon("en").words
        others = [{**english.counted_as, **english.removals}.get(one, one) for one in names]
        others += [ill for one in names for ill in ills_shown_by(one)]
        return not any(self._said.issuperset(_tokens([one])) for one in {*names, *others})

    def _turns_about(self, piece: Piece) -> bool:
        """Whether a piece asks for all others: "which vaccines did she not have?"."""
        is_negation = piece.text in self._words.words.negations and not self.is_over
        is_meant = any(one.without or one.part == "reason" for one in self._asked)  # "why not …?"
        return is_negation and not is_meant and (self._is_open or bool(self._limits))

    def _is_aspect_left(self, piece: Piece) -> bool:
        """Whether it asks for what has to be worked out, and none of it is told.

        The highest of a list, "how did she break it", the first where only the highest is told.
        """
        said = {*piece.of("aspect")}
        if self._is_list:
            is_how = "trend" in said and piece.words[0] in self._words.words.asking
            of_values = _OF_VALUES - ({"change"} if self._is_of_drug else set())  # of its dose
            return is_how or (bool(said & of_values) and len(piece.labels) == 1)
        said &= {*_OF_VALUES, "first"}
        is_plain = {one.kind for one in piece.labels} <= {"aspect", "frame", "stop"}
        return bool(said) and is_plain and self._aspects.isdisjoint(said)

    def _is_limit_left(self, piece: Piece) -> bool:
        """Whether it is a limit without its figure, or the other side of the one that is asked."""
        said = {one.kind for one in piece.labels}
        is_side = side_of(piece, self._words) in _SIDES and any(one.around for one in self._asked)
        is_plain = _LIMITS & said and said <= {*_LIMITS, "stop"} and not self._limits & said
        if is_side or not is_plain:
            return False  # "Nebenwirkungen unter Osimertinib" has no limit
        if "results" not in self._tools and said <= _LIMITS:  # no list goes by an amount
            return True
        is_of_other = len(piece.words) > 1 and not (self._has_days or "change" in self._aspects)
        is_compared = any(one.aspect == "change" and one.span for one in self._asked)
        is_compared &= all(figure_in(one, self._words) is None for one in self._pieces)
        is_ranked = not is_compared and not self._aspects.isdisjoint(_OF_VALUES - {"change"})
        return bool(self._limits) or is_of_other or is_ranked

    def _is_time_left(self, piece: Piece) -> bool:
        """Whether it says how what is asked lies to something else, and no days were made of it."""
        side = side_of(piece, self._words)
        if (len(piece.words) > 1 and piece.of("topic")) or (side == "before" and self._is_whole):
            return False  # "whose chart am I in", "what do I need to know before surgery?"
        if self._whens and side in ("before", "after") and side not in self._whens:
            return True  # its other side is what is asked for
        is_long = len(piece.words) > 1
        is_side = side in _SIDES or (side == "since" and len(self._asked) > 1 and not self._begins)
        is_side |= is_long and (side == "at" or "around" in piece.of("frame"))
        is_side |= "apart" in piece.of("frame") and "when" not in piece.of("aspect")
        is_limit = any(one.kind in self._limits for one in piece.labels)
        is_limit |= len(self._limits) > 1 and "apart" in piece.of("frame")
        return (is_side and not self._has_days and not is_limit) or piece is self._loose_end

    def _is_worked_out_left(self, piece: Piece) -> bool:
        """Whether it is a rate, a length or a place that no question has."""
        said = {*piece.of("frame")}
        is_rate = not said.isdisjoint({"per_year", "percent"})
        is_rate &= not any(one.rate or one.unit for one in self._asked)
        is_length = "lasting" in said and not any(one.asked_on is not None for one in self._asked)
        has_place = any(one.back or "last" in one.arguments for one in self._every)
        has_place |= "trend" in self._aspects  # of a course each is told
        return is_rate or is_length or (bool(piece.of("place")) and not has_place)

    def _is_topic_left(self, piece: Piece) -> bool:
        courses = [topic for topic in piece.of("topic") if topic.tool == "timeline"]
        told = (one.around or one.part == "reaction" or one.tool in _COURSES for one in self._asked)
        is_of_any = self._is_of_any and bool(piece.of("for_it"))
        return bool(courses and not any(told)) or is_of_any

    def _is_then(self) -> bool:
        """Whether what points at a time that was told has one."""
        is_of_age = any(not one.around and _is_of_time(one) for one in self._asked)
        is_of_days = any(one.around or one.span for one in self._asked)
        return (len(self._asked) > 1 and is_of_age) or is_of_days


def _in_ids(pieces: Sequence[Piece]) -> Iterator[float]:
    """Yield the figures of patients' ids: patient_7."""
    behind = (piece.text for before, piece in pairwise(pieces) if before.text == "patient")
    yield from (float(one) for one in behind if one.isdigit())


def _side_at_end(pieces: Sequence[Piece], words: Lexicon) -> Piece | None:
    """Return what leaves open of what it is a side: "weight since"."""
    last = next((one for one in reversed(pieces) if any(map(str.isalnum, one.text))), None)
    side = "" if last is None else relations_of(words).get(last.text)
    return last if side in _OPEN_SIDES else None


def _is_since(question: ChartQuestion) -> bool:
    """Whether all of it since a day is asked for: "2018?", "and after that?"."""
    return question.span is not None and question.span.until is None


def _is_of_time(question: ChartQuestion) -> bool:
    return bool(question.around) or question.at_age is not None or question.name == "age"


def _told_by(question: ChartQuestion) -> frozenset[Aspect]:
    """Return the aspects that the answer to a question tells."""
    told = _TELLS.get(question.aspect, frozenset()) | {question.aspect}
    is_fact = question.tool in ("current_status", "biomarkers")  # whose rows tell what was before
    if question.tool not in ("results", "imaging_reports") and not is_fact:
        told -= _OF_VALUES  # whatever it was asked for; reports and a status say what has changed
    elif (question.above or question.below) is not None or is_fact:
        told -= _OF_VALUES - {"change"}  # told is which values are beyond
    is_course = question.tool == "results" and bool(question.span or "last" in question.arguments)
    then = question.is_begun or question.rate or question.tool == "changes" or _is_of_time(question)
    return told | (_TELLS["trend"] if is_course or then else frozenset())


def _has_days(question: ChartQuestion) -> bool:
    """Whether it is asked of some days, or of how far things are apart."""
    is_of_days = question.span is not None or question.near is not None or question.back
    is_length = question.asked_on is not None or question.is_begun or question.tool in _TIMES
    return bool(_is_of_time(question) or is_of_days or is_length)


def _figures(asked: Iterable[ChartQuestion]) -> Iterator[float]:
    for one in asked:
        limits = (one.above, one.below, one.lower_limit, one.at_age, one.most or None)
        yield from (float(each) for each in limits if each is not None)
        yield from () if one.shift is None else (float(abs(one.shift.count)),)
        yield from (2.0,) if one.is_apart or one.when == "between" else ()  # "between the two"
    said = _tokens(_texts(asked))
    yield from (float(each) for each in said if each.replace(".", "", 1).isdigit())


def _texts(asked: Iterable[ChartQuestion]) -> Iterator[str]:
    for one in asked:
        told = (str(value) for name, value in one.arguments.items() if name not in _DAYS)
        yield from (one.name, one.head, one.by, *one.without, *told)
        yield one.shift.text if one.shift is not None else ""
        yield from _texts(one.around)


def _tokens(texts: Iterable[str]) -> Iterator[str]:
    return (token for text in texts for token in tokens_of(text))


def with_unread(
    asked: Sequence[ChartQuestion], said: SaidOfChart, words: Lexicon
) -> tuple[ChartQuestion, ...]:
    """Return the questions, the first with all that they leave out, as it was typed."""
    left = [*unread_in(said.pieces, asked, words), *said.aside, *_measures_left(said, asked)]
    if not any(left):
        return tuple(asked)
    typed = {fold(word)[0]: word for word in re.findall(r"\w+", said.text)}
    whole = [one for one in left if not any(one in other.split()[:-1] for other in left)]
    spelt = (" ".join(typed.get(word, word) for word in one.split()) for one in whole if one)
    unread = ", ".join(spelt)
    if unread:  # a yes would be one to less than was asked
        asked = [
            replace(one, aspect="all") if one.aspect == "whether" and one.tool != "results" else one
            for one in asked
        ]
    first = (
        replace(one, unread=", ".join(dict.fromkeys(filter(None, (one.unread, unread)))))
        for one in asked[:1]
    )
    return (*first, *asked[1:])


def _measures_left(said: SaidOfChart, asked: Sequence[ChartQuestion]) -> Iterator[str]:
    """Yield a length, and a unit, that no question has."""
    yield said.length
    yield said.months.text * all(not (q.month or q.span or q.tool in REPORTS) for q in asked)
    is_shifted = any(one.shift is not None for one in asked)
    yield "" if said.shift is None or is_shifted else said.shift.text
    yield "" if any(one.unit for one in asked) else said.unit
    yield from () if any(map(_is_of_days, asked)) else (one.text for one in said.spans)


def _is_of_days(question: ChartQuestion) -> bool:
    """Whether rows of some days are asked for; a fact of the person has none."""
    if question.tool == "chart_summary" and question.name not in ("", "age"):
        return False
    is_told = (
        question.span or question.near or not {"since", "until"}.isdisjoint(question.arguments)
    )
    return bool(is_told) or any(map(_is_of_days, question.around))
