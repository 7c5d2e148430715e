"""Whether prose says of the patient what no row has a word of: "She is anaemic." Pure."""

from collections.abc import Set as AbstractSet

from services.language.clauses import Clause
from services.language.statement_words import statement_words
from services.language.statements import Sentence
from services.statements.broader import told_of
from services.statements.rows import BEGINNING

_NO_STATEMENT = frozenset({"maybe", "no", "nothing", "not_yet", "first_person", "recorded"})

_INFLECTIONS = ("en", "n", "e", "es", "er", "em")
_MEASURED = ("wert", "werte", "spiegel", "bereich")
"""German joins what is measured with these: `Kaliumwert`, `Normbereich`."""


def states_unknown(sentence: Sentence, known: AbstractSet[str]) -> bool:
    """Whether fewer than half of the words by which a sentence states something are known.

    Args:
        known: Stems of the words of all rows, and of the patient's name.
    """
    is_plain = not (sentence.is_heading or sentence.asks or sentence.refs)
    is_told = is_plain and "about_patient" in sentence.cues
    return is_told and all(_is_unknown(clause, known) for clause in sentence.clauses)


def reports_unknown(sentence: Sentence, known: AbstractSet[str]) -> bool:
    """Whether somebody is said to have recommended or decided what no row has half the words of."""
    deciding = sentence.words & statement_words().deciding
    is_plain = not (sentence.is_heading or sentence.asks or sentence.refs or sentence.is_question)
    if not deciding or not is_plain or sentence.cues & {"first_person", "not_yet"}:
        return False
    told = told_of(sentence.words) - deciding
    return bool(told) and 2 * len(told & known) < len(told)


def adds_unknown(sentence: Sentence, known: AbstractSet[str], begun: AbstractSet[str]) -> bool:
    """Whether a sentence that rows support says something besides that no row has a word of.

    Args:
        known: Stems of the words of all rows, and of the patient's name.
        begun: Beginnings of these, of `BEGINNING` letters.
    """
    return any(
        word not in known
        and word[:BEGINNING] not in begun
        and not _is_neutral(word, clause)
        and not _is_of_two(word, known)
        for clause in sentence.clauses
        if not clause.cues & {"no", "nothing", "recorded"}
        for word in told_of(clause.words)
    )


def _is_of_two(word: str, known: AbstractSet[str]) -> bool:
    """Whether two known words are written as one: `first-trimester`, whose stem has no hyphen."""
    return any(word[:at] in known and word[at:] in known for at in range(4, len(word) - 1))


def _is_neutral(word: str, clause: Clause) -> bool:
    known = statement_words()
    forms = [word, *(word.removesuffix(ending) for ending in _INFLECTIONS if len(word) > 5)]
    if any(one in known.neutral or one in known.spoken for one in forms):
        return True
    if word in known.exclusive:
        return True
    # "mmHg" is mm[Hg] by UCUM.
    return any(word in one.unit.lower().replace("[", "") for one in clause.quantities)


def _is_unknown(clause: Clause, known: AbstractSet[str]) -> bool:
    if not clause.cues & {"asserts", "current"} or clause.cues & _NO_STATEMENT or clause.has_values:
        return False
    if any(cue.startswith("deed:") for cue in clause.cues):
        return False
    said = {word for word in told_of(clause.words) if not word.endswith(_MEASURED)}
    return bool(said) and 2 * len(said & known) < len(said)
