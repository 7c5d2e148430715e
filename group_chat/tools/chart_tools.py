"""The tools over the active patient's chart (spec page 9.2); each returns a `ChartView`."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, Field

from data_models.chart_view import ChartView
from data_models.errors import ToolInputError
from data_models.values import ClosedValue
from group_chat.tools.paper_tools import with_papers
from group_chat.tools.tool import NoArguments, Tool
from group_chat.turn_context import TurnContext
from services.records.big_charts import make_view
from services.records.dates import first_day, last_day
from services.records.need import Need
from services.records.ports import PatientRecords
from services.records.record import PatientRecord
from services.records.views import lists, oncology
from services.records.views.course import course
from services.records.views.medications import medications
from services.records.views.needs import (
    need_of_document,
    need_of_history,
    need_of_results,
    need_of_tool,
)
from services.records.views.papers import documents, read_document
from services.records.views.problems import problems
from services.records.views.results import kind_asked, results
from services.records.views.search import QUERY_LIMIT_CHARS, search_record
from services.records.views.summary import chart_summary

_View = Callable[[PatientRecord, TurnContext, Any], ChartView]
Day: TypeAlias = Annotated[str | None, Field(max_length=10, description="ISO date or year.")]


class ProblemsArguments(ClosedValue):
    """Which problems."""

    status: Literal["active", "resolved", "all"] = "active"


class MedicationsArguments(ClosedValue):
    """Which drugs."""

    status: Literal["now", "stopped", "all"] = "now"
    name: str | None = Field(default=None, max_length=80, description="Drug, brand or class.")


class ResultsArguments(ClosedValue):
    """Which values."""

    names: list[str] = Field(
        default_factory=list, max_length=20, description="As people name it: potassium, A1c, BP."
    )
    category: str | None = Field(
        default=None, max_length=40, description="laboratory, vital sign, survey, imaging …"
    )
    since: Day = None
    until: Day = None
    last: int | None = Field(default=None, ge=1, le=1_000, description="Of each.")


class NameArguments(ClosedValue):
    """Which of them."""

    name: str | None = Field(default=None, max_length=80)


class ProceduresArguments(NameArguments):
    """Which procedures."""

    since: Day = None


class EncountersArguments(ClosedValue):
    """Which visits."""

    since: Day = None
    last: int | None = Field(default=None, ge=1, le=1_000)


class DocumentsArguments(ClosedValue):
    """Which documents."""

    kind: str | None = Field(
        default=None, max_length=60, description="imaging, pathology, note, attached …"
    )
    since: Day = None


class ReadArguments(ClosedValue):
    """Which document."""

    id: str = Field(min_length=1, max_length=130)
    page: int = Field(default=1, ge=1, le=10_000)


class SearchArguments(ClosedValue):
    """What to look for."""

    query: str = Field(min_length=1, max_length=QUERY_LIMIT_CHARS)


class TimelineArguments(ClosedValue):
    """Which part of the course."""

    since: Day = None
    until: Day = None
    kinds: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="problem, medication, imaging, note … or all.",
    )


class ChartTool(NamedTuple):
    """A view of the record that agents may call for.

    Attributes:
        need: What of the chart a call reads, where that depends on its arguments.
    """

    name: str
    view: _View
    description: str
    arguments: type[BaseModel] = NoArguments
    need: Callable[[Any], Need] | None = None


def chart_tools(records: PatientRecords) -> tuple[Tool, ...]:
    """Return the tools over `records`."""
    return tuple(
        Tool(row.name, row.description, row.arguments, with_papers(row.name, _over(records, row)))
        for row in (*_ROWS, *_ROWS_OF_BOARDS)
    )


def _over(
    records: PatientRecords, tool: ChartTool
) -> Callable[[TurnContext, Any], Awaitable[ChartView]]:
    async def run(turn: TurnContext, arguments: Any) -> ChartView:
        need = tool.need(arguments) if tool.need is not None else need_of_tool(tool.name)
        record = await records.load(turn.patient_id, need)
        return await make_view(record, lambda one: tool.view(one, turn, arguments))

    return run


def _results(record: PatientRecord, _: TurnContext, asked: ResultsArguments) -> ChartView:
    return results(
        record,
        names=asked.names,
        category=asked.category,
        since=day_asked(asked.since),
        until=day_asked(asked.until, last_day),
        last=asked.last,
    )


def _of_results(asked: ResultsArguments) -> Need:
    kind = kind_asked(asked.category)
    return need_of_results(
        asked.names,
        kind=kind or "",
        since=day_asked(asked.since),
        until=day_asked(asked.until, last_day),
    )


def _read(record: PatientRecord, _: TurnContext, asked: ReadArguments) -> ChartView:
    view = read_document(record, asked.id, page=asked.page)
    if view is None:
        raise ToolInputError(
            "this patient's record has no document of that id; call documents for the ids"
        )
    return view


def day_asked(text: str | None, read: Callable[[str], date | None] = first_day) -> date | None:
    """Return the day that an argument means: of a month or year the one that `read` says.

    Raises:
        ToolInputError: it is no date.
    """
    if not text:
        return None
    day = read(text)
    if day is None:
        raise ToolInputError("since and until must be dates such as 2024-05-09, 2024-05 or 2024")
    return day


_ROWS = (
    ChartTool(
        "chart_summary",
        lambda record, turn, _: chart_summary(
            record, today=turn.request.now.date(), now=turn.request.now.isoformat()
        ),
        "One screen: allergies, problems, medications now, key results, visits, documents, gaps.",
    ),
    ChartTool(
        "problems",
        lambda record, _, asked: problems(record, status=asked.status),
        "Problems and diagnoses with onset, end and certainty.",
        ProblemsArguments,
    ),
    ChartTool(
        "medications",
        lambda record, turn, asked: medications(
            record, today=turn.request.now.date(), status=asked.status, name=asked.name
        ),
        "Drugs with dose and since when: taken now, stopped or all.",
        MedicationsArguments,
    ),
    ChartTool(
        "results",
        _results,
        "Laboratory values, vital signs, scores, measurements, newest first; lowest, highest, "
        "change of each.",
        ResultsArguments,
        _of_results,
    ),
    ChartTool(
        "allergies",
        lambda record, _, __: lists.allergies(record),
        "Allergies and intolerances; “none known” is told from nothing recorded.",
    ),
    ChartTool(
        "immunizations",
        lambda record, _, asked: lists.immunizations(record, name=asked.name),
        "Vaccinations with dates.",
        NameArguments,
    ),
    ChartTool(
        "procedures",
        lambda record, _, asked: lists.procedures(
            record, name=asked.name, since=day_asked(asked.since)
        ),
        "Procedures and operations with dates and outcome.",
        ProceduresArguments,
    ),
    ChartTool(
        "encounters",
        lambda record, turn, asked: lists.encounters(
            record, now=turn.request.now.isoformat(), since=day_asked(asked.since), last=asked.last
        ),
        "Visits and hospital stays, newest first, after the appointments to come.",
        EncountersArguments,
    ),
    ChartTool(
        "care",
        lambda record, _, __: lists.care(record),
        "Care plans, goals, team, devices, directives, flags, orders, coverage and contacts.",
    ),
    ChartTool(
        "history",
        lambda record, _, __: lists.history(record),
        "Family history and social history.",
        need=lambda _: need_of_history(),
    ),
    ChartTool(
        "documents",
        lambda record, _, asked: documents(record, kind=asked.kind, since=day_asked(asked.since)),
        "Notes and reports, who wrote them, when: without their text.",
        DocumentsArguments,
    ),
    ChartTool(
        "read_document",
        _read,
        "The full text of one document, by pages.",
        ReadArguments,
        lambda asked: need_of_document(asked.id),
    ),
    ChartTool(
        "search_record",
        lambda record, _, asked: search_record(record, asked.query),
        "Entries and passages of notes that hold the words, or other names for them.",
        SearchArguments,
    ),
    ChartTool(
        "timeline",
        lambda record, turn, asked: course(
            record,
            today=turn.request.now.date(),
            since=day_asked(asked.since),
            until=day_asked(asked.until, last_day),
            kinds=asked.kinds,
        ),
        "The course in order of time, oldest first.",
        TimelineArguments,
    ),
)
_ROWS_OF_BOARDS = (
    ChartTool(
        "load_patient_data",
        lambda record, turn, _: oncology.overview(record, today=turn.request.now.date()),
        "Who the patient is and which documents exist.",
    ),
    ChartTool(
        "current_status",
        lambda record, turn, _: oncology.status_view(record, today=turn.request.now.date()),
        "Age, sex, primary site, histology, staging, biomarkers, treatments, ECOG.",
    ),
    ChartTool(
        "imaging_reports",
        lambda record, _, __: record.derived(oncology.imaging_view),
        "Imaging reports and studies, newest first.",
    ),
    ChartTool(
        "pathology_reports",
        lambda record, _, __: record.derived(oncology.pathology_view),
        "Pathology and genetic reports, newest first.",
    ),
    ChartTool(
        "biomarkers",
        lambda record, _, __: record.derived(oncology.biomarkers_view),
        "Tumour markers and genetic findings.",
    ),
)
CHART_TOOLS, RECORD_TOOLS = (tuple(row.name for row in rows) for rows in (_ROWS, _ROWS_OF_BOARDS))
