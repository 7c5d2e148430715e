"""Tokens that are nearly patient ids: `pateint_15`, `patient_4-42`, `patient 4-42`. Pure."""

from rapidfuzz.distance import OSA

from services.language.near_ids import TokenLikeId, number_in_words, tokens_like_ids, word_of_id
from services.patient_context.pattern import PatientIdPattern

# The word itself in other forms and languages: a number behind it is read by other rules.
_INFLECTED = frozenset(
    {
        *("patients", "patienten", "patientin", "patientinnen", "patiente", "patientes"),
        *("paciente", "pacientes", "paziente", "pazienti", "patience", "patent", "patents"),
    }
)
_SLIPS = 2
_SHOWN_CHARS = 64


def misspelt_id(text: str, pattern: PatientIdPattern) -> str | None:
    """Return the first token that is meant as an id and is none.

    It is an id that goes on behind a sign, or the word of our ids with a slip or two.
    """
    if (said := number_in_words(text)) is not None:
        return said
    words = {word for one in pattern.examples if (word := word_of_id(one))}
    found = (one for one in tokens_like_ids(text) if _is_slip(one, words, pattern))
    return next((one.text[:_SHOWN_CHARS] for one in found), None)


def _is_slip(token: TokenLikeId, words: set[str], pattern: PatientIdPattern) -> bool:
    if not any(OSA.distance(token.word, one) <= _SLIPS for one in words):
        return False
    if token.is_split:
        return True
    is_word = token.word in words or token.word in _INFLECTED
    return (token.goes_on or not is_word) and not pattern.matches_any_case(token.text)
