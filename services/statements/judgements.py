"""Whether prose judges a finding or a course as no row does: "The CT was normal." Pure."""

from collections.abc import Iterable

from services.language.statement_words import statement_words
from services.language.statements import Sentence
from services.statements.rows import KnownRow

_NO_JUDGEMENT = frozenset({"maybe", "nothing", "not_yet", "first_person", "recorded"})


def judges_alone(sentence: Sentence, rows: Iterable[KnownRow]) -> bool:
    """Whether a sentence judges, or tells what somebody knows or agreed to, and no row says so.

    A row says so if it holds one of the words of the judgement beside one of what is judged:
    "no evidence of progression", "biopsy: benign".
    """
    if sentence.is_heading or sentence.asks or sentence.is_question or sentence.refs:
        return False
    cues = sentence.cues | {cue for one in sentence.clauses for cue in one.cues}
    if cues & _NO_JUDGEMENT or not cues & {"asserts", "no", "is_now", "about_patient"}:
        return False
    known = statement_words()
    said = sentence.words & known.judging
    judged = sentence.words & known.judged
    if not said or not (judged or "about_patient" in cues):
        return False
    return not any(said & row.words and (not judged or judged & row.words) for row in rows)
