"""Tokens that are nearly patient ids: `pateint_15`, `patient_4-42`, `patient 4-42`. Pure."""

import re
from itertools import pairwise

from rapidfuzz.distance import OSA

from services.language.statement_words import statement_words
from services.patient_context.pattern import PatientIdPattern

# Bounded, so that a long run of letters is read once.
_TOKEN = re.compile(
    r"(?<!\w)[A-Za-z]{5,20}(?:[ _-]|[_-]\s{1,2})?[0-9]{1,20}(?:[-/.,][0-9]{1,20})?(?!\w)"
)
_SPLIT = re.compile(r"[_-]\s")
# The word itself in other forms and languages: a number behind it is read by other rules.
_INFLECTED = frozenset(
    {
        *("patients", "patienten", "patientin", "patientinnen", "patiente", "patientes"),
        *("paciente", "pacientes", "paziente", "pazienti", "patience", "patent", "patents"),
    }
)
_CALLED = frozenset({"patient", "patientin", "patiente", "paciente", "paziente"})
_WORD = re.compile(r"[^\W\d_]+")
_SLIPS = 2
_WORD_LEAST_CHARS = 5


def misspelt_id(text: str, pattern: PatientIdPattern) -> str | None:
    """Return the first token that is meant as an id and is none.

    It is an id that goes on behind a sign, or the word of our ids with a slip or two.
    """
    if (said := _in_words(text)) is not None:
        return said
    words = {word for one in pattern.examples if (word := _word_of(one))}
    for found in _TOKEN.finditer(text):
        token = found.group()
        word = _word_of(token)
        if not any(OSA.distance(word, one) <= _SLIPS for one in words):
            continue
        goes_on = re.search("[0-9][-/.,][0-9]", token) is not None
        is_word = word in words or word in _INFLECTED
        slipped = not is_word and not pattern.matches_any_case(token)
        slipped = slipped or ("_" in token and _SPLIT.search(token) is not None)
        if (goes_on and not pattern.matches_any_case(token)) or slipped:
            return token[:64]
    return None


def _in_words(text: str) -> str | None:
    """Return `patient fifteen`: a number in words where a patient's stands."""
    numbers = statement_words().numbers
    for word, number in pairwise(_WORD.findall(text)):
        if word.lower() in _CALLED and numbers.get(number.lower(), 1) != 1:
            return f"{word} {number}"
    return None


def _word_of(token: str) -> str:
    """Return the letters that an id begins with, if they are long enough for slips to tell."""
    word = re.split("[^A-Za-z]", token, maxsplit=1)[0].lower()
    return word if len(word) >= _WORD_LEAST_CHARS else ""
