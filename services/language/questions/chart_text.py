"""How a message is made ready to be read as questions, and whether it is one. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise, takewhile

from services.language.charts.chart_parts import REPORTS, without_switch, written_summary
from services.language.charts.chart_pieces import Label, NameIs, Piece
from services.language.charts.chart_words import Lexicon
from services.language.charts.named_runs import has_sides, may_name
from services.language.figures.quantities import without_unit
from services.language.figures.times import length_left, spans_in
from services.language.people.without_names import without_caller
from services.language.questions.ages_asked import Age, ages_in
from services.language.questions.events_asked import relations_of
from services.language.questions.lengths_asked import with_both_ends
from services.language.questions.question_figures import with_ordinals
from services.language.questions.time_shifts import BareMonths, months_named, shift_in
from services.language.utterance import ChartQuestion, TimeShift, TimeSpan
from services.language.words.folding import fold
from services.language.words.people_words import of_people
from services.language.words.phrases import says

_OPENINGS = frozenset({"ok", "okay"})
_PAUSES = re.compile(r"\s[-–—+/]+\s|:(?=\s)|\n+")
"""Signs between two questions: "knee pain - what is he taking", and the end of a line."""
_WHICH = Piece(("which side",), (Label("part", "side"),))
_DATED = frozenset(
    {"results", "encounters", "procedures", "immunizations", "imaging_reports", "documents"}
)
"""Tools whose rows are each of one day."""
LISTS = frozenset({"medications", "allergies", "immunizations", "problems", "encounters"})


@dataclass(frozen=True, slots=True)
class SaidOfChart:
    """A message as a question of the chart reads it.

    Attributes:
        text: As typed.
        folded: Without its unit, its shift and its ages.
        pieces: What is left of it besides its days, in the order said.
        excluded: What it leaves out by name: "besides naproxen".
        aside: What it sets aside, as it says so: "not counting checkups".
        length: A length of time of which no days were made.
        months: Those that are named without a year.
    """

    text: str
    folded: str
    pieces: Sequence[Piece]
    spans: Sequence[TimeSpan]
    ages: Sequence[Age]
    shift: TimeShift | None
    unit: str
    excluded: Sequence[NameIs]
    aside: Sequence[str]
    length: str
    months: BareMonths


def said_in(text: str, words: Lexicon, *, today: date) -> SaidOfChart:
    """Return `text` as its pieces, with the days, ages, lengths and units that it names."""
    unit, bare = without_unit(without_caller(text))
    shift, folded = shift_in(fold(prepared(bare, words))[0], words.language)
    ages, folded = ages_in(folded, words.language)
    spans, rest = spans_in(folded, today=today, language=words.language)
    months, rest = months_named(rest, words.language)
    pieces = _with_sides(without_opening(_as_asked(rest, words)), words)
    pieces = written_summary(without_switch(pieces, words))
    pieces = with_ordinals(with_both_ends(with_side_asked(pieces, words), words), words)
    pieces, excluded = without_excluded(pieces, words)
    pieces, aside = _set_aside(pieces, words)
    others = [one for one in spans if _is_set_aside(one, folded, words)]
    spans = tuple(one for one in spans if one not in others)
    aside = [*aside, *(f"{folded.partition(one.text)[0].split()[-1]} {one.text}" for one in others)]
    length = length_left(rest, words.language)
    return SaidOfChart(
        text, folded, pieces, spans, ages, shift, unit, excluded, aside, length, months
    )


def _as_asked(text: str, words: Lexicon) -> list[Piece]:
    """Return the pieces of `text`, what ends a question also where its sign was not typed."""
    pieces = words.pieces(f"{text} ?")
    return _with_markers(pieces[:-1] if pieces[-1].text == "?" else pieces, words)


def _with_markers(pieces: Sequence[Piece], words: Lexicon) -> list[Piece]:
    """Return the pieces; letters joined to a marker are one too: the ER of "Ki67, ER and PR"."""
    found, markers = [*pieces], words.words.markers
    for _ in "to the right", "to the left":
        for at, piece in enumerate(found[2:], 2):
            is_joined = found[at - 1].text in (*words.joints, "/") and piece.text in markers
            if is_joined and any(one.tool == "biomarkers" for one in found[at - 2].of("topic")):
                found[at] = words.pieces(fold(markers[piece.text])[0])[0]
        found.reverse()
    return found


def _with_sides(pieces: Sequence[Piece], words: Lexicon) -> list[Piece]:
    """Return the pieces; what ends in "before" and has a name behind it asks around that.

    "What did she take before?" is what is over, "… before the statin?" is not.
    """
    sides = relations_of(words)
    for at, piece in enumerate(pieces):
        *head, last = piece.words
        is_named = any(one.of("name") for one in pieces[at + 1 : at + 3])
        if head and is_named and piece.of("topic") and sides.get(last) in ("before", "after"):
            begin = " ".join([*(one.text for one in pieces[:at]), *head])
            return [*words.pieces(begin), *words.pieces(last), *pieces[at + 1 :]]
    return [*pieces]


def _is_set_aside(span: TimeSpan, folded: str, words: Lexicon) -> bool:
    """Whether all other days are meant: "except 2020", "not since 2015"."""
    before = folded.partition(span.text)[0].split()
    said = {" ".join(before[-1:]), " ".join(before[-2:])}
    return bool(before) and not said.isdisjoint(words.words.negations)


def _set_aside(pieces: list[Piece], words: Lexicon) -> tuple[list[Piece], Sequence[str]]:
    """Return `pieces` without what they set aside, and that: "visits not counting checkups".

    Told instead of all others it would be the answer to the opposite.
    """
    for at, piece in enumerate(pieces):
        if piece.text not in words.words.negations or not any(map(_is_named, pieces[:at])):
            continue
        empty = (n for n, one in enumerate(pieces[at + 1 :], at + 1) if not _is_filler(one, words))
        first = next(empty, len(pieces))
        if pieces[at - 1].text in words.words.joints or not any(map(_is_named, pieces[first:][:1])):
            continue
        closing = {*words.joints, *words.words.asking}
        ends = (n for n in range(first, len(pieces)) if pieces[n].text in closing)
        end = next(ends, len(pieces))
        return [*pieces[:at], *pieces[end:]], [" ".join(one.text for one in pieces[at:end])]
    return pieces, ()


def _is_named(piece: Piece) -> bool:
    return bool(piece.of("topic") or piece.of("name"))


def _is_filler(piece: Piece, words: Lexicon) -> bool:
    kinds = {one.kind for one in piece.labels}
    return piece.text in words.connectors or (bool(kinds) and kinds <= {"stop", "people"})


def prepared(text: str, words: Lexicon) -> str:
    """Return `text` with its heading, its pauses and its capitals said in words."""
    return _cased(_PAUSES.sub(" ; ", _without_heading(text, words)), words)


def without_opening(pieces: list[Piece]) -> list[Piece]:
    """Return what stands behind "ok, and …"; at the end of a question it asks for the range."""
    begins = next((at for at, one in enumerate(pieces) if one.text not in _OPENINGS), 0)
    return pieces[begins:]


def is_asking(text: str, pieces: Sequence[Piece], words: Lexicon) -> bool:
    """Whether the message asks or orders something, so that unknown words are worth a search."""
    is_question = "?" in text or any({*words.words.asking} & {*one.words} for one in pieces)
    is_question |= any("side" in piece.of("part") for piece in pieces)  # "ankle left or right"
    opens = (*pieces[0].of("aspect"), *pieces[0].of("stop"), *pieces[0].of("part"))
    return is_question or bool(opens or pieces[-1].of("aspect"))  # "crpc since"


def _without_heading(text: str, words: Lexicon) -> str:
    """Return `text` as one question where a heading stands before names: "labs: na, k"."""
    head, colon, rest = text.partition(":")
    pieces = words.pieces(fold(head)[0]) if colon else []
    is_heading = bool(pieces) and all(
        any(one.tool == "results" for one in piece.of("topic")) for piece in pieces
    )
    return f"{head} {rest}" if is_heading else text


def _cased(text: str, words: Lexicon) -> str:
    """Return `text` with what capitals tell said in words: EGFR is a gene, eGFR a filtration."""
    is_loud = text.isupper() and not any(map(str.isdecimal, text))  # "P 78" is not
    for capitals, meant in words.words.cased.items():
        if capitals in text and not is_loud:
            text = re.sub(rf"\b{re.escape(capitals)}\b", meant, text)
    return text


def with_side_asked(pieces: Sequence[Piece], words: Lexicon) -> list[Piece]:
    """Return `pieces` with a part of the body behind "which" put to the name that it is of.

    "Which ankle was sprained" asks for the side of a sprain of the ankle, and for no ankle.
    """
    for at, piece in enumerate(pieces[1:], 1):
        if pieces[at - 1].text in words.words.asking and has_sides(piece):
            before, rest = pieces[: at - 1], pieces[at + 1 :]
            if any(one.of("name") or one.of("topic") for one in before):
                return [*before, _WHICH, *rest]  # "… and in which arm": of what was named
            ends = [end for end, one in enumerate(rest, 1) if one.of("name")]
            end = ends[0] if ends and len(piece.words) == 1 else 0
            return [*before, _WHICH, *rest[:end], piece, *rest[end:]]
    return list(pieces)


def without_its_part(pieces: Sequence[Piece], words: Lexicon) -> list[Piece]:
    """Return `pieces` with "which arm" as which side of what was named before."""
    asked = with_side_asked(pieces, words)
    return [one for one in asked if not has_sides(one)] if _WHICH in asked else [*pieces]


def without_excluded(
    pieces: Sequence[Piece], words: Lexicon
) -> tuple[list[Piece], tuple[NameIs, ...]]:
    """Return `pieces` without what is left out, and its names; all of them where it has none."""
    excluding = (at for at, one in enumerate(pieces) if one.of("excluding"))
    at = next(excluding, _before_kind_of_visits(pieces, words))

    def stands_in_it(piece: Piece) -> bool:
        is_between = piece.text in words.connectors or (piece.of("stop") and not piece.of("aspect"))
        return bool(is_between) or may_name(piece, words) or bool(names_left_out(piece))

    behind = list(takewhile(stands_in_it, pieces[at + 1 :]))
    named = [piece for piece in behind if may_name(piece, words) or names_left_out(piece)]
    names = tuple(one for piece in named for one in names_left_out(piece))
    names += tuple(NameIs("", piece.text) for piece in named if not piece.labels)
    left = [*pieces[:at], *pieces[at + 1 + len(behind) :]]
    return (left or [*pieces[at : at + 1]], names) if names else ([*pieces], ())


def _before_kind_of_visits(pieces: Sequence[Piece], words: Lexicon) -> int:
    """Return where a kind of visits is refused: "visits without checkups"; else the end."""
    denials = (at for at, one in enumerate(pieces[:-1]) if one.text in words.words.denials)
    for at in denials:
        before = [topic for piece in pieces[:at] for topic in piece.of("topic")]
        is_list = {(topic.tool, topic.name) for topic in before} == {("encounters", "")}
        is_order = not at and pieces[-1].text != "?"  # "no checkups please"
        is_kind = any(each.tool == "encounters" for each in names_left_out(pieces[at + 1]))
        if is_kind and (is_list or is_order):
            return at
    return len(pieces)


def names_left_out(piece: Piece) -> list[NameIs]:
    """Return the names of what a piece leaves out: of a drug, an illness, a kind of visits."""
    topics = (one for one in piece.of("topic") if one.tool == "encounters" and one.name)
    return [*piece.of("name"), *(NameIs(one.tool, one.name) for one in topics)]


def limited(asked: Iterable[ChartQuestion], said: SaidOfChart) -> tuple[ChartQuestion, ...]:
    """Return the questions without what is left out; a drug that is somebody is who ordered it.

    "Anything besides naproxen?" asks for all other drugs.
    """
    left_out, pieces = said.excluded, said.pieces
    without = tuple(one.name for one in left_out)
    lists = [ChartQuestion(one.tool) for one in left_out if one.tool in LISTS][:1]
    dated = _DATED - (REPORTS if len(said.months.dates) > 1 else set())  # these are told whole
    is_ordered = any("ordered" in one.of("frame") for one in pieces)
    titles = of_people("staff", *["not_asked"] * is_ordered)  # "prescribed by Fay", "by mouth"
    titled = [two.text for one, two in pairwise(pieces) if one.text in titles and not two.labels]
    return tuple(
        replace(one, arguments={"status": "all"}, name="", by=one.name or titled[0], aspect="all")
        if titled and one.tool == "medications" and one.name.split()[:1] in ([], titled[:1])
        else replace(
            one,
            without=without,
            month=month,
            most=one.most or int(one.tool == "chart_summary" and says(said.text, "in_few_lines")),
        )
        for one in [*asked] or lists
        for month in (one.tool in dated and said.months.dates) or ("",)
    )
