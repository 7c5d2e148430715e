"""Whether prose says of the patient what no row has a word of: "She is anaemic." Pure."""

from collections.abc import Set as AbstractSet

from services.language.clauses import Clause
from services.language.statements import Sentence
from services.statements.broader import told_of

_NO_STATEMENT = frozenset({"maybe", "no", "nothing", "not_yet", "first_person", "recorded"})

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


def _is_unknown(clause: Clause, known: AbstractSet[str]) -> bool:
    if "asserts" not in clause.cues or clause.cues & _NO_STATEMENT or clause.has_values:
        return False
    if any(cue.startswith("deed:") for cue in clause.cues):
        return False
    said = {word for word in told_of(clause.words) if not word.endswith(_MEASURED)}
    return bool(said) and 2 * len(said & known) < len(said)
