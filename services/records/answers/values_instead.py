"""Values, and scans, that tell of what is asked for and its own list does not hold. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from data_models.chart_view import ChartView
from services.language.charts.tools_named import SEARCH
from services.language.questions.question_figures import with_days
from services.language.utterance import Aspect, ChartQuestion
from services.language.words.vocabulary import concept_rows
from services.records.answers.choosing.asked_rows import asked_rows
from services.records.answers.choosing.imaged import IMAGING, part_imaged
from services.records.rows.measurements import MEASURED

_MAY_BE_VALUES = frozenset({SEARCH, "procedures", "current_status"})
"""Where else values are asked for that nobody knows to be some: a score by its short name."""
_TUMOUR, _SIZE = "cancer", "greatest dimension of the tumor"
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
    return with_days(ChartQuestion("results", {"names": [value]}, "latest", value), question.span)


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
    return with_days(value, question.span)


def with_scans(
    question: ChartQuestion, taken: ChartView, view_of: Callable[[ChartQuestion], ChartView]
) -> ChartView:
    """Return images with the scans of other days that are recorded as procedures alone."""
    is_of_days = question.aspect in ("latest", "first", "count", "when")
    own = asked_rows(question, taken).rows if question.tool == "imaging_reports" else ()
    if not (is_of_days and own):
        return taken
    made = with_days(ChartQuestion("procedures", name=question.name, head=IMAGING), question.span)
    days = {row.date[:10] for row in own}
    scans = asked_rows(made, view_of(made)).rows
    more = tuple(row for row in scans if row.date[:10] not in days)
    return taken.model_copy(update={"rows": (*taken.rows, *more)})


def done_without_report(question: ChartQuestion) -> Sequence[ChartQuestion]:
    """Return the questions for a scan or a biopsy that was made, and has no report."""
    names = dict.fromkeys((question.name, part_imaged(question.name)))  # radiograph of the femur
    named = [searched(question, one, one) for one in names if one]
    if question.tool == "imaging_reports":
        is_sized = question.name.endswith(_TUMOUR)  # "how big was it?"
        sized = [ChartQuestion("results", {"names": [_SIZE]}, name=_SIZE)] if is_sized else []
        aspect: Aspect = "all" if question.aspect == "whether" else question.aspect
        done = replace(question, tool="procedures", arguments={}, head=IMAGING, part=None)
        return (*sized, replace(done, aspect=aspect), *named)
    done = ChartQuestion("procedures", {"name": question.name}, "all", question.name)
    return (with_days(done, question.span), *named) if question.name else ()


def searched(question: ChartQuestion, query: str, name: str) -> ChartQuestion:
    """Return the question as a search over everything for `query`, told as one for `name`."""
    of_all = replace(question, tool=SEARCH, aspect="all", month="")
    return replace(of_all, arguments={"query": query}, name=name)
