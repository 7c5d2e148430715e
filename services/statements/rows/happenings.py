"""What happened to a thing, and how it is judged: `removed`, "The CT was normal". Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from data_models.plain_yaml import read_yaml
from services.language.sentences.clauses import Clause
from services.language.sentences.name_kinds import kind_of_name
from services.language.sentences.statements import Sentence
from services.language.words.statement_tables import saying, stem, stems_told
from services.language.words.statement_words import statement_words
from services.records.concepts.table import words_listed
from services.statements.rows.rows import ONLY_POSSIBLE, KnownRow, told_of

COURSES = frozenset({"rising", "falling", "steady"})
_DONE = frozenset({"immunization", "procedure"})
_OF_THEN = frozenset({"ended", "no", "before", "when"})
_LEFT = "discha"
_OPERATION, _REMOVED, _CUT_OUT = "operat", "remove", "ectomy"


def happenings(clause: Clause) -> list[str]:
    """Return the words of a clause that tell what happened to a thing."""
    known = statement_words().happening
    return [word for word in clause.words if word in known]


def has_happened(word: str, row: KnownRow) -> bool:
    """Whether a row says what happened by a word: `resected`, `resection`."""
    begun = statement_words().happening[word]
    if row.kind == "procedure" and _OPERATION in begun:
        return row.words.isdisjoint(_no_operations())
    if row.is_stay and row.ended is not None and _LEFT in begun:
        return True
    return any(
        (one.startswith(begun) and (one == word or not one.endswith(ONLY_POSSIBLE)))
        or (_REMOVED in begun and one.endswith(_CUT_OUT))
        for one in row.words
    )


def tells_happenings(clause: Clause, row: KnownRow) -> bool:
    """Whether the row says what happened to the thing: `removed`, `declined`, `recurred`."""
    is_of_value = row.number is not None or "height_change" in clause.cues
    if is_of_value and (clause.cues & COURSES or clause.quantities):
        return True  # "declined from 22 to 11" is a course, "118 on admission" of a visit beside it
    beside = saying("of_a_stay") if row.is_text and clause.quantities and clause.names else ()
    told = [word for word in happenings(clause) if word not in (*clause.names, *beside)]
    return not told or all(has_happened(word, row) for word in told)


def _is_to_come(clause: Clause, row: KnownRow) -> bool:
    """Whether what is told as planned, or not yet begun, was done, or is a drug that is given."""
    is_planned = "is_now" in clause.cues and clause.says("scheduling")
    is_unbegun = {"not_yet", "begun"} <= clause.cues and not clause.dates
    is_done = row.kind in _DONE or row.kind.endswith(("medication", "report", "study"))
    is_open = is_planned or (is_done and (is_unbegun or "outstanding" in clause.cues))
    is_next = row.is_text and bool(row.words & saying("next_of_all"))  # "Next visit in May."
    return is_open and (is_done or row.is_text) and not (row.is_plan or is_next)


def is_otherwise(clause: Clause, row: KnownRow) -> bool:
    """Whether a thing is no longer so, or a row tells no wish, no finding of what was done."""
    ills = (one for one in clause.names if kind_of_name(one) == "problem")
    is_other = row.kind in _DONE and clause.says("finds") and not row.words.issuperset(ills)
    if row.is_text and not clause.cues & _OF_THEN:  # "no longer enlarged"
        is_other = bool(row.words & saying("longer") and row.words & saying("denying_alone"))
    if row.is_text and "ended" in clause.cues and clause.says("longer"):
        states = told_of(clause.words) - clause.called - {*clause.names} - statement_words().neutral
        is_other = bool(clause.exclusive or states) and not row.words & saying("longer")
    if clause.says("vanished"):
        is_other |= row.words.isdisjoint(saying("vanished"))
    if row.negated and row.words & saying("denying_alone"):  # "no rejection": none was rejected
        refusing = statement_words().refusing
        is_other |= bool(clause.words & refusing) and row.words.isdisjoint(refusing)
    if clause.says("who") and clause.says("wishing"):  # what is given is not wanted for that
        wishes = row.words & saying("wishing", "wished")
        is_question = wishes <= saying("asking") and bool(row.words & saying("asked_what"))
        is_other |= not (row.is_text and wishes) or is_question
    return is_other or _is_to_come(clause, row)


def taken_away(clause: Clause, fitting: Sequence[KnownRow], candidates: Sequence[KnownRow]) -> bool:
    """Whether what somebody is said to have was removed after all that says it: a port."""
    is_had = clause.cues & {"current", "is_now"} and not (clause.dates or happenings(clause))
    begun, last = statement_words().happening["removed"], max(row.order for row in fitting)
    removals = (r for r in candidates if is_had and r.kind == "procedure" and r.order >= last)
    own = (row for row in removals if not row.needs.isdisjoint(clause.names))
    return any(word.startswith(begun) for row in own for word in row.name)


def has_ended(row: KnownRow) -> bool:
    """Whether a row is told as over, or is of what was done once."""
    is_told = row.standing == "ended" or row.ended is not None or row.kind == "procedure"
    ending = statement_words().ending | (saying("longer") if row.is_text else frozenset())
    return is_told or not row.words.isdisjoint(ending)


@cache
def _no_operations() -> frozenset[str]:
    """Return the stems of words of procedures that are no operations: `immobilization`."""
    return frozenset(map(stem, words_listed("not_operations")))


def may_be_operation(row: KnownRow) -> bool:
    """Whether a procedure may be an operation: a measurement, an injection or a form is none."""
    if row.kind == "encounter":
        return row.is_stay  # who was seen was not admitted
    return row.kind != "procedure" or row.words.isdisjoint(stems_told("no_operation"))


_PLAINLY: Mapping[str, tuple[float, float]] = read_yaml(
    Path(__file__).with_name("usual_values.yaml").read_bytes()
)
_UNITS = frozenset(
    {"mmol/L", "mg/dL", "10*3/uL", "10*9/L", "g/dL", "U/L", "mm[Hg]", "kg/m2", "%"}
    | {"mL/min/{1.73_m2}", "mL/min"}
)
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
    if not said:  # "impaired, with an eGFR of 100"
        return low <= number <= high if clause.says("abnormal") else not is_usual
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
