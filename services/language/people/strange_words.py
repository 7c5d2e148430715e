"""Words that no vocabulary holds: where a message names somebody, they are names. Pure."""

from functools import lru_cache

from services.language.charts.chart_entries import words_of_questions
from services.language.charts.chart_words import lexicon
from services.language.figures.full_dates import month_numbers
from services.language.words.detection import language_of
from services.language.words.folding import fold
from services.language.words.people_words import of_people
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name, ordinary_words

_LANGUAGES = ("en", "de")
_LEAST_CHARS = 3


@lru_cache(maxsize=8_192)
def is_strange(word: str) -> bool:
    """Whether a folded word is none of any vocabulary, and no slip in one: `warfrain`."""
    return is_listed_nowhere(word) and not any(lexicon(one).knows(word) for one in _LANGUAGES)


@lru_cache(maxsize=8_192)
def is_listed_nowhere(word: str) -> bool:
    """Whether a folded word is in no list of words of the language, of medicine or of charts."""
    if len(word) < _LEAST_CHARS or word in of_people("no_names") or word in words_of_questions():
        return False
    is_known = word.endswith(tuple(of_people("endings_of_no_name"))) or word in month_numbers()
    return not (is_known or is_clinical_name(stem(word)) or stem(word) in ordinary_words())


@lru_cache(maxsize=256)
def left_over_in(text: str) -> frozenset[str]:
    """Return the words, folded, to which no answer to a question of a chart goes back."""
    own = language_of(text)
    pieces = lexicon(own).pieces(fold(text)[0]) if own in _LANGUAGES else ()
    left = {word for one in pieces if {*one.by_kind} <= {"beyond"} for word in one.words}
    # By what is spelled so no language asks for something.
    words = [(it, one) for it in left for lang in _LANGUAGES for one in lexicon(lang).pieces(it)]
    read = {it for it, one in words if {*one.by_kind} - {"beyond"} and one.text in it}
    return frozenset(filter(str.isalpha, left - read))


@lru_cache(maxsize=256)
def in_long_names_of(text: str) -> frozenset[str]:
    """Return the words, folded, of what charts call by several: "phosphate binder"."""
    own = language_of(text, default=_LANGUAGES[0])
    pieces = lexicon(own).pieces(fold(text)[0]) if own in _LANGUAGES else ()
    named = (one.words for one in pieces if "name" in one.by_kind and len(one.words) > 1)
    return frozenset(word for words in named for word in words)
