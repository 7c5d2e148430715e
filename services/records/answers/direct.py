"""What plain questions about a chart come to, from rows alone: what to look up next, or the answer.

Pure. What is absent from one list may stand in a note; only then it is not in the record.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from data_models.chart_view import ChartView, ViewRow
from services.language.answer_words import AnswerWords
from services.language.chart_questions import SEARCH
from services.language.question_figures import arguments_of
from services.language.utterance import Aspect, ChartQuestion
from services.records.answers.as_said import said_of
from services.records.answers.asked_rows import asked_rows, has_answer, partly_named
from services.records.answers.quoted import told_evidence
from services.records.answers.sentences import answer_of

Looked: TypeAlias = ChartView | str
"""What a tool gave: rows, or what was wrong."""
# Words in which notes tell what a record has a field for.
_ALSO_SAID = {
    "marital status": "married widowed divorced husband wife spouse partner",
    "address": "address lives",
    "phone": "phone telephone",
    "language": "language interpreter speaks",
    "contact person": "contact daughter son husband wife sister brother mother father",
    "general practitioner": "general practitioner family doctor GP",
    "race": "race ethnicity",
    "family": "family mother father sister brother parents",
    "social": "social lives works occupation retired",
    "coverage": "insurance insured",
    "device": "device implant implanted pacemaker stent prosthesis port",
    "directive": "directive resuscitation living will",
    "vital status": "died death",
    "stage": "stage staging TNM",
    "tnm": "TNM stage staging",
    "ECOG": "ECOG performance status",
    "inpatient admission": "admitted admission inpatient discharged",
    "emergency": "emergency",
}


def answered(
    questions: Sequence[ChartQuestion],
    given: Sequence[tuple[ChartQuestion, Looked]],
    words: AnswerWords,
    *,
    held: Sequence[str] = (),
) -> ChartQuestion | str:
    """Return what has to be looked up next, or what the rows say to all `questions`.

    Args:
        given: What was looked up so far, and what that gave.
        held: What users said of the patient; what is about the questions is told beside the rows.
    """
    said: list[str] = []
    for question in questions:
        told = _answer(question, given, words)
        if isinstance(told, ChartQuestion):
            return told
        said.append(told)
    quotes = said_of(questions, held)
    as_said = [words.as_said.format(quotes="; ".join(quotes))] if quotes else []
    return "\n\n".join(dict.fromkeys([*said, *as_said]))


def _answer(
    question: ChartQuestion, given: Sequence[tuple[ChartQuestion, Looked]], words: AnswerWords
) -> ChartQuestion | str:
    taken = _given(question, given)
    if taken is None:
        return question
    if isinstance(taken, str):
        return words.failed.format(title=question.tool, problem=taken)
    absent = told_evidence(taken) or answer_of(question, taken, words)
    looked_at = taken if question.tool == SEARCH else None
    for search in () if has_answer(question, taken) else _searches_for(question):
        found = _given(search, given)
        if found is None:
            return search
        if isinstance(found, ChartView) and (told := _elsewhere(question, search, found, words)):
            is_guess = question.tool == "allergies" or not search.name
            # Else it is in the record, though not in that list.
            lead = f"{absent} {words.perhaps}" if is_guess else words.elsewhere
            return f"{lead}\n{told}"
        looked_at = found if isinstance(found, ChartView) and search.name else looked_at
    return absent if looked_at is None else _with_parts(question, absent, looked_at, words)


def _with_parts(
    question: ChartQuestion, absent: str, looked_at: ChartView, words: AnswerWords
) -> str:
    """Add what speaks of part of a longer name to what says that it is not there."""
    rows = () if question.tool == "allergies" else partly_named(question.name, looked_at.rows)
    if not rows or has_answer(question, looked_at):
        return absent
    search = replace(
        question, tool=SEARCH, arguments={"query": question.name}, aspect="all", name=""
    )
    search = replace(search, span=None)
    view = looked_at.model_copy(update={"rows": rows})
    return f"{absent} {words.perhaps}\n{answer_of(search, view, words)}"


def _given(question: ChartQuestion, given: Sequence[tuple[ChartQuestion, Looked]]) -> Looked | None:
    """Return what the tool of a question gave, if it was asked for the same."""
    alike = (
        looked
        for asked, looked in given
        if asked.tool == question.tool and arguments_of(asked) == arguments_of(question)
    )
    return next(alike, None)


def _elsewhere(
    question: ChartQuestion, search: ChartQuestion, found: ChartView, words: AnswerWords
) -> str:
    """Return what a search over everything found; "" for nothing."""
    if question.tool == "allergies":  # a scan with contrast tells of no allergy to it
        rows = tuple(row for row in found.rows if _tells_of_allergy(row, words))
        found = found.model_copy(update={"rows": rows})
    if question.tool == "problems":  # a vaccination against it tells of no illness
        rows = tuple(row for row in found.rows if row.kind != "immunization")
        found = found.model_copy(update={"rows": rows})
    return answer_of(search, found, words) if asked_rows(search, found).rows else ""


def _tells_of_allergy(row: ViewRow, words: AnswerWords) -> bool:
    said = f"{row.name} {row.value} {row.detail}".casefold()
    return any(mark in said for mark in words.allergic)


def _searches_for(question: ChartQuestion) -> Sequence[ChartQuestion]:
    """Return where to look next, in this order, where its tool holds nothing of a question."""
    if question.tool == SEARCH:
        return ()
    if question.tool == "encounters" and not question.name:
        # Notes tell of visits that nobody recorded as such.
        aspect: Aspect = question.aspect if question.aspect in ("latest", "first") else "all"
        return (replace(question, tool="documents", arguments={}, aspect=aspect),)
    if question.tool == "care" and question.name == "care team":
        seen = replace(question, tool="encounters", aspect="all", name="", part="people")
        return (seen, replace(seen, tool="documents"))
    if question.tool == "care" and question.name not in _ALSO_SAID:
        return ()  # "care" and "plan" stand in any note
    if not question.name or len(question.arguments.get("names", ())) > 1:
        return ()
    said = _ALSO_SAID.get(question.name)
    query, name = (said, "") if said is not None else (question.name, question.name)
    return (replace(question, tool=SEARCH, arguments={"query": query}, aspect="all", name=name),)
