"""Answers that name nothing themselves: "Yes.", "None recorded.", "All normal.", "0". Pure.

They say something of what was asked, and are read as if they named that.
"""

from collections.abc import Iterator, Sequence

from services.language.clauses import Clause
from services.language.statement_tables import saying, stem, stems_told
from services.language.statement_words import statement_words
from services.language.statements import Sentence, read_sentence
from services.language.yes_no import yes_no_in
from services.statements.known import KnownRows
from services.statements.rows import told_of

_COURSES = frozenset({"normal", "high", "low", "rising", "falling", "steady"})
_HABIT = {True: "non-smoker", False: "smoker"}
"""What a bare answer to a question about smoking says, by whether it denies."""


def is_bare_answer(sentence: Sentence) -> bool:
    """Whether a sentence only says yes, no, none, a figure, or how something is."""
    if sentence.is_question or sentence.is_heading or sentence.asks or sentence.refs:
        return False
    return bool(sentence.clauses) and all(map(_is_bare, sentence.clauses)) and _answers(sentence)


def _is_bare(clause: Clause) -> bool:
    if clause.names or clause.objects or clause.dates or clause.stages or clause.sites:
        return False
    if any(one.unit for one in clause.quantities) or any("deed:" in cue for cue in clause.cues):
        return False
    own = told_of(clause.words) - statement_words().neutral
    return bool(clause.cues & _COURSES) or not own - _answering()


def _answering() -> frozenset[str]:
    return stems_told("judging") | frozenset(map(stem, saying("answers_whether")))


def _answers(sentence: Sentence) -> bool:
    cues = {cue for one in sentence.clauses for cue in one.cues}
    if cues & {"maybe", "first_person", "not_yet"}:
        return False
    figures = any(one.quantities for one in sentence.clauses) and len(sentence.words) <= 1
    told = cues & {"no", *_COURSES} or sentence.words & (saying("answers_whether") | _answering())
    return figures or bool(told)


def as_answers(text: str, asked: Sequence[str], rows: KnownRows) -> Iterator[str]:
    """Yield a bare answer as what it says of each thing that was asked about."""
    said = "none" if yes_no_in(text) == "no" else text.strip()
    is_denied = said == "none" or "no" in read_sentence(text).cues
    for name in asked:
        sentence = read_sentence(name, is_name=rows.is_name)
        named = [each for one in sentence.clauses for each in one.names]
        is_habit = bool(named) and any(row.smoking for row in rows.about(named))
        yield _HABIT[is_denied] if is_habit else f"{name}: {said}"


def is_there(text: str, asked: Sequence[str], rows: KnownRows) -> bool:
    """Whether "yes" answers a question for a whole list, of which something is there."""
    clauses = [each for one in asked for each in read_sentence(one).clauses if not each.names]
    topics = [topic for one in clauses for topic in one.topics]
    return yes_no_in(text) == "yes" and any(rows.about([one]) for one in topics)


def judges_of_own(sentence: Sentence, rows: KnownRows) -> bool:
    """Whether an answer judges what no row judges: "It is fine"."""
    said = sentence.words & stems_told("judging")
    is_told = {cue for one in sentence.clauses for cue in one.cues} & _COURSES
    return bool(said) and not is_told and not any(said & row.words for row in rows.rows)
