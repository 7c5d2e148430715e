"""What was given or done about an illness and what is measured of it since, by the record. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from data_models.chart_view import ChartView, ViewRow
from services.language.charts.answer_words import AnswerWords
from services.language.questions.question_figures import with_days
from services.language.utterance import ChartQuestion, TimeSpan
from services.language.words.vocabulary import concept_rows
from services.records.answers.choosing.asked_rows import asked_rows
from services.records.answers.choosing.events import times_of
from services.records.answers.choosing.row_parts import MARKS
from services.records.answers.sentences import answer_of
from services.records.concepts.table import class_taken_for, words_listed
from services.records.concepts.words import words_of
from services.records.resources.dates import first_day
from services.records.rows.finding import means

LOOKED_AT: Final = (
    ChartQuestion("medications", {"status": "all"}),
    ChartQuestion("procedures"),
    ChartQuestion("care"),
)
"""The lists in which treatments stand."""
_SHORT_DAYS = 183
"""What began later in the course of a longer illness may be for anything."""
_NEAR_DAYS = 31
"""After its beginning; there it may, where nothing that is usual for it is recorded."""
_TREATMENTS = frozenset({"medication", "procedure", "care plan"})


def asks_for_treatment(question: ChartQuestion, problems: ChartView) -> bool:
    """Whether it is asked what was done about an illness that is in `problems`."""
    is_of_illness = question.tool == "problems" and bool(question.name)
    return (
        is_of_illness and question.part == "treatment" and bool(asked_rows(question, problems).rows)
    )


def told_treatments(
    question: ChartQuestion,
    problems: ChartView,
    lists: Sequence[tuple[ChartQuestion, ChartView]],
    words: AnswerWords,
) -> str:
    """Return what is recorded for the illness, and drugs begun while it lasted without a reason.

    Args:
        lists: What each of `LOOKED_AT` gave, if it gave rows.
    """
    illnesses = [one for row in asked_rows(question, problems).rows for one in times_of(row)]
    said: list[str] = []
    kind = class_taken_for(question.name)
    is_usual = any(_is_of_kind(row, kind) for _, view in lists for row in _treatments(view))
    near_days = 0 if is_usual else _NEAR_DAYS
    ways: tuple[tuple[str, Callable[[ViewRow], bool]], ...] = (
        (words.say("treated_by"), lambda row: _is_for(row, question.name, illnesses)),
        (words.say("usual_for"), lambda row: _is_of_kind(row, kind)),
        (
            words.say("meanwhile"),
            lambda row: not _is_of_kind(row, kind) and _is_meanwhile(row, illnesses, near_days),
        ),
    )
    for lead, is_meant in ways:
        told = [
            answer_of(asked, view.model_copy(update={"rows": rows}), words)
            for asked, view in lists
            if (rows := [row for row in _treatments(view) if is_meant(row)])
        ]
        said += [lead, *told] if told else []
    return "\n".join(said) or words.say("no_part", part=words.parts["treatment"])


def _treatments(view: ChartView) -> Iterator[ViewRow]:
    yield from (row for row in view.rows if row.kind in _TREATMENTS)


def reason_of(row: ViewRow) -> str:
    """Return what a row says that it was given or done for; "" for nothing."""
    parts = (each for each in row.detail.split("; ") if each.startswith(MARKS["reason"]))
    return next(parts, "")


def _is_for(row: ViewRow, name: str, illnesses: Sequence[ViewRow]) -> bool:
    """Whether its reason is the illness, as the list or as the question calls it.

    In fewer words, too: "adenocarcinoma of lung" of one of its right upper lobe.
    """
    reason = reason_of(row)
    is_named = bool(name) and means("problem", name, label=reason, codes=())
    is_named |= any(one.name in reason for one in illnesses)
    said = words_of(reason)[1:]  # behind "for"
    called = [words_of(one.name) for one in illnesses]
    return is_named or any(said[:1] == each[:1] and {*said} <= {*each} for each in called if said)


def _is_of_kind(row: ViewRow, kind: str) -> bool:
    """Whether a drug without a reason is of the class that is usually taken for an illness."""
    is_drug = row.kind == "medication" and bool(kind) and not reason_of(row)
    return is_drug and means("drug", kind, label=row.name, codes=row.code)


def _is_meanwhile(row: ViewRow, illnesses: Sequence[ViewRow], near_days: int) -> bool:
    """Whether it began while an illness lasted, of a longer one within days of its beginning."""
    begun = _day(row.date)
    for illness in illnesses if begun and _may_be_treatment(row) else ():
        first, last = _day(illness.date), _day(illness.end)
        lasted = (last - first).days if first and last else _SHORT_DAYS + 1
        days = range(lasted + 1 if lasted <= _SHORT_DAYS else near_days)
        if first and begun and (begun - first).days in days:
            return True
    return False


def _may_be_treatment(row: ViewRow) -> bool:
    """Whether it is a drug or an operation for which no reason is recorded."""
    is_done = row.kind == "procedure" and not words_listed("not_operations") & {*words_of(row.name)}
    return not reason_of(row) and (is_done or row.kind == "medication")


def _day(recorded: str) -> date | None:
    return first_day(recorded[:10]) if recorded else None


def values_of_effect(question: ChartQuestion, view: ChartView) -> tuple[ChartQuestion, ...]:
    """Return the questions for the last value before one drug and for those since.

    No record says what a drug did. The values are what its reader judges by.
    """
    rows = asked_rows(question, view).rows if question.part == "effect" else ()
    begun = first_day(rows[0].date[:10]) if len(rows) == 1 and rows[0].date else None
    value = next(_measured_of(rows[0]), "") if begun is not None else ""
    if begun is None or not value:
        return ()
    since = ChartQuestion("results", {"names": [value]}, "trend", value)
    before = replace(since, aspect="latest")
    return (
        with_days(before, TimeSpan(until=begun - timedelta(days=1))),
        with_days(since, TimeSpan(since=begun)),
    )


def _measured_of(row: ViewRow) -> Iterator[str]:
    """Yield what is measured of what a drug is for: of its reason, else of its class."""
    rows, reason = concept_rows(), reason_of(row)
    shown = rows["measured_for"]
    if reason:
        yield from (shown[ill] for ill in shown if means("problem", ill, label=reason, codes=()))
        return
    for kind, ills in rows["taken_for"].items():
        if means("drug", kind, label=row.name, codes=row.code):
            yield from (shown[ill] for ill in ills if ill in shown)
