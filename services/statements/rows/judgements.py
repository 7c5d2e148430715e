"""Whether prose judges a finding or a course as no row does: "The CT was normal." Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from data_models.plain_yaml import read_yaml
from services.language.sentences.clauses import Clause
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying, stems_told
from services.language.words.statement_words import statement_words
from services.statements.rows.rows import KnownRow

_PLAINLY: Mapping[str, tuple[float, float]] = read_yaml(
    Path(__file__).with_name("usual_values.yaml").read_bytes()
)
_UNITS = frozenset({"mmol/L", "mg/dL", "10*3/uL", "10*9/L", "g/dL", "U/L", "mm[Hg]", "kg/m2", "%"})
_MARGIN = 0.05
_COURSES = frozenset({"rising", "falling"})
_NO_JUDGEMENT = frozenset({"maybe", "nothing", "not_yet", "first_person", "recorded"})


def with_courses(sentence: Sentence) -> Sentence:
    """Return a sentence with the ways that values went; itself where it tells of none."""
    clauses = tuple(map(_with_course, sentence.clauses))
    return sentence if clauses == sentence.clauses else replace(sentence, clauses=clauses)


def _with_course(clause: Clause) -> Clause:
    """Return a clause by which something got better or worse with the way that its values went."""
    said = clause.words & (saying("improved") | saying("worsened"))
    known = statement_words().better
    better = next((known[name] for name in clause.names if name in known), "")
    if len(said) != 1 or not better or clause.cues & _COURSES:
        return clause
    course = {better} if said & saying("improved") else _COURSES - {better}
    return replace(clause, cues=clause.cues | course)


def is_plainly_otherwise(clause: Clause, row: KnownRow) -> bool:
    """Whether a value that no range judges is called what nobody would: an ALT of 212 normal."""
    found = next((one for one in row.needs if one in _PLAINLY), None)
    value = next((one for one in row.quantities if one.unit in _UNITS), None)
    if found is None or value is None:
        return False
    low, high = _PLAINLY[found]
    number = value.number
    is_usual = low * (1 - _MARGIN) <= number <= high * (1 + _MARGIN)
    is_low, is_high = number < low * (1 + _MARGIN), number > high * (1 - _MARGIN)
    said = clause.cues & {"high", "low", "normal"}
    return not {"high": is_high, "low": is_low, "normal": is_usual}[next(iter(said))]


def judges_alone(sentence: Sentence, rows: Iterable[KnownRow]) -> bool:
    """Whether a sentence judges, or tells what somebody knows or agreed to, and no row says so.

    A row says so if it holds one of the words of the judgement beside one of what is judged:
    "no evidence of progression", "biopsy: benign".
    """
    if sentence.is_heading or sentence.asks or sentence.is_question or sentence.refs:
        return False
    cues = sentence.cues | {cue for one in sentence.clauses for cue in one.cues}
    if cues & _NO_JUDGEMENT:
        return False
    said = sentence.words & stems_told("judging")
    judged = sentence.words & stems_told("judged")
    if not said or not (judged or "about_patient" in cues):
        return False
    return not any(said & row.words and (not judged or judged & row.words) for row in rows)
