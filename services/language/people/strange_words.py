"""Words that no vocabulary holds: where a message names somebody, they are names. Pure."""

from functools import cache, lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from services.language.charts.chart_entries import chart_nouns, measured_nouns, words_of_questions
from services.language.charts.chart_words import lexicon
from services.language.words.people_words import of_people
from services.language.words.statement_tables import stem
from services.language.words.statement_words import is_clinical_name, ordinary_words
from services.language.words.vocabulary import drug_words

_LANGUAGES = ("en", "de")
_LEAST_CHARS, _SLIP_CHARS, _TWO_SLIPS_CHARS = 3, 6, 8


@lru_cache(maxsize=8_192)
def is_strange(word: str) -> bool:
    """Whether a folded word is none of any vocabulary, and no slip in a word of medicine.

    What is nearer to a clinical term than a slip is that term: `potasium`, `warfrain`.
    """
    if len(word) < _LEAST_CHARS or word in of_people("no_names") or word in words_of_questions():
        return False
    is_known = word.endswith(tuple(of_people("endings_of_no_name")))
    is_known = is_known or is_clinical_name(stem(word)) or stem(word) in ordinary_words()
    if is_known or any(lexicon(one).knows(word) for one in _LANGUAGES):
        return False
    edits = 0 if len(word) < _SLIP_CHARS else 1 if len(word) < _TWO_SLIPS_CHARS else 2
    return process.extractOne(word, _clinical(), scorer=OSA.distance, score_cutoff=edits) is None


@cache
def _clinical() -> frozenset[str]:
    return chart_nouns() | measured_nouns() | drug_words()
