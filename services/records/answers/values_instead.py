"""Values that tell of what is asked for where its own list does not hold it. Pure."""

from dataclasses import replace

from data_models.chart_view import ChartView
from services.language.charts.tools_named import SEARCH
from services.language.questions.question_figures import with_days
from services.language.utterance import ChartQuestion
from services.language.words.vocabulary import concept_rows
from services.records.answers.choosing.asked_rows import asked_rows
from services.records.rows.measurements import MEASURED

_MAY_BE_VALUES = frozenset({SEARCH, "procedures", "current_status"})
"""Where else values are asked for that nobody knows to be some: a score by its short name."""
_THINGS = frozenset(
    {"problem", "encounter diagnosis", "medication", "procedure", "allergy", "immunization",
     "encounter", "family history", "order", "device", "goal", "care plan"}
)  # fmt: skip


def measured_for(question: ChartQuestion) -> ChartQuestion | None:
    """Return the question for the value that tells most of what is not recorded itself.

    Of an illness, or what an examination measures: "Lungenfunktion?".
    """
    table = {"problems": "measured_for", "procedures": "measured_by"}.get(question.tool)
    value = concept_rows()[table].get(question.name) if table else None
    if value is None:
        return None
    measured = ChartQuestion("results", {"names": [value]}, "latest", value)
    return measured if question.span is None else with_days(measured, question.span)


def measured_as(
    question: ChartQuestion, search: ChartQuestion, found: ChartView
) -> ChartQuestion | None:
    """Return the question for the one value that a search found, by its own name; texts beside."""
    rows = asked_rows(search, found).rows if search.tool == SEARCH and search.name else ()
    names = {row.name for row in rows if row.kind in MEASURED}
    is_other = any(row.kind in _THINGS for row in rows)
    if len(names) != 1 or is_other:
        return None
    (name,) = names
    if question.tool not in _MAY_BE_VALUES and name.casefold() != question.said.casefold():
        return None
    value = replace(question, tool="results", arguments={"names": [name]}, name=name, head="")
    return value if question.span is None else with_days(value, question.span)
