"""The words, of any language, by which a short question leans on the one before it. Pure."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from services.language.charts.chart_file import ChartWords, chart_file
from services.language.charts.chart_pieces import Piece
from services.language.charts.chart_words import Lexicon, lexicon
from services.language.charts.named_runs import FOR
from services.language.utterance import Relation
from services.language.words.folding import fold, tokens_of
from services.language.words.vocabulary import LANGUAGES

_SIDES: Sequence[Relation] = ("after", "since", "during")


@cache
def every(select: Callable[[ChartWords], Iterable[str]]) -> frozenset[str]:
    """Return, folded, the phrases that `select` takes of the words of each language."""
    return frozenset(fold(one)[0] for each in LANGUAGES for one in select(chart_file(each)))


_whiches = partial(every, lambda words: words.which)
_pointers = partial(every, lambda words: words.pointers)
_stills = partial(every, lambda words: words.parts["status"])  # "noch da" is no "then"
_limits = partial(every, lambda words: (*words.above, *words.below))
_befores = partial(
    every,
    lambda words: (*words.before, *(w for one in _SIDES for w in words.relations.get(one, ()))),
)


def opens(tokens: Sequence[str]) -> bool:
    """Whether it begins as what goes on: "and in 2015?"."""
    return any(tuple(tokens[:size]) in _openers() for size in range(1, len(tokens) + 1))


def points_back(tokens: Sequence[str]) -> bool:
    """Whether it is asked of what was named before: "who prescribed it?"."""
    said = " ".join(tokens)
    # "Allergies that are no longer active": of all of them.
    for one in (each for language in LANGUAGES for each in chart_file(language).relative):
        said = said[:1] + said[1:].replace(f" {one}", "")
    return not _pointers().isdisjoint(said.split())


def points_within(pieces: Sequence[Piece], words: Lexicon) -> bool:
    """Whether it points at what it names itself: "when was her statin started, and who by it?"."""
    points = next((n for n, one in enumerate(pieces) if one.text in words.words.pointers), 0)
    joints = [n for n, one in enumerate(pieces[:points]) if one.text in words.joints]
    return any(one.of("name") for one in pieces[: joints[-1] if joints else 0])


def asks_which(tokens: Sequence[str]) -> bool:
    """Whether it asks but which they are: "on a pill?", "which?"."""
    return " ".join(filter(str.isalnum, tokens)) in _whiches()


def is_then(tokens: Sequence[str]) -> bool:
    """Whether it ends in a word for the days before: "whom did she see then?"."""
    said = " ".join(["", *filter(str.isalnum, tokens)])
    return said.endswith(_thens()) and not said.endswith(tuple(_stills()))


def ends_before(tokens: Sequence[str]) -> bool:
    """Whether it ends in a word for what came before or after: "die Koloskopie davor?"."""
    return next((one for one in reversed(tokens) if one.isalnum()), "") in _befores()


def refuses(folded: str, words: Lexicon) -> bool:
    """Whether it is no question, and leaves out what it names: "no sinusitis please"."""
    pieces = words.pieces(folded)
    opening = pieces[0].text if pieces else ""
    return "?" not in folded and opening in words.words.negations | words.words.denials


def has_limit(tokens: Sequence[str]) -> bool:
    """Whether a figure stands in it with a word for beyond: "any above 160?"."""
    return any(one in _limits() for one in tokens) and any(one[:1].isdigit() for one in tokens)


@cache
def _thens() -> tuple[str, ...]:
    return tuple(f" {one}" for one in every(lambda words: words.at_that_time))


@cache
def _openers() -> frozenset[tuple[str, ...]]:
    every = (one for language in LANGUAGES for one in chart_file(language).openers)
    return frozenset(tokens_of(one) for one in every)


def says_what_for(tokens: Sequence[str]) -> bool:
    """Whether it is said what something was for: "and how long with the PE?"."""
    return not (FOR | {"with", "mit", "bei", "avec", "con"}).isdisjoint(tokens)


def marker_named(text: str, language: str) -> str:
    """Return the marker that two or three letters alone may be: "ER?", "and PR?"; else ""."""
    words = lexicon(language)
    said = [one for one in tokens_of(text) if one.isalnum() and one not in words.joints]
    return words.words.markers.get(said[0], "") if len(said) == 1 else ""


def may_be_of_that(pieces: Sequence[Piece]) -> bool:
    """Whether a drug, or what was begun, is asked for and nothing named: "which drug?"."""
    frames = {one for piece in pieces for one in piece.of("frame")}
    is_begun = not frames.isdisjoint({"begun", "ordered", "diagnosed", "single"})
    return is_begun and not any(one.of("name") for one in pieces)
