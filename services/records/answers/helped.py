"""Whether a drug helped: what is measured of its illness, before it was begun and since. Pure."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from data_models.chart_view import ChartView, ViewRow
from services.language.question_figures import with_days
from services.language.utterance import ChartQuestion, TimeSpan
from services.language.vocabulary import concept_rows
from services.records.answers.asked_rows import asked_rows
from services.records.answers.treatments import reason_of
from services.records.dates import first_day
from services.records.finding import means


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
