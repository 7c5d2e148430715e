"""The tools over the active patient's chart (spec page 9.2); each returns a `ChartView`."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import date, datetime
from functools import wraps
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import Field

from data_models.chart_view import ChartView
from data_models.errors import ToolInputError
from group_chat.tools.tool import Tool, tools_of
from group_chat.turn_context import TurnContext
from services.attachments.papers import beside, is_paper, of_papers
from services.records.big_charts import make_view
from services.records.resources.dates import first_day, last_day
from services.records.resources.ports import Need, PatientRecords
from services.records.resources.record import PatientRecord
from services.records.views import lists, needs
from services.records.views.course import course
from services.records.views.lists import problems as view_of_problems
from services.records.views.medications import medications as view_of_medications
from services.records.views.oncology import oncology
from services.records.views.papers import documents as view_of_documents
from services.records.views.papers import read_document as view_of_document
from services.records.views.results import kind_asked
from services.records.views.results import results as view_of_results
from services.records.views.search import QUERY_LIMIT_CHARS
from services.records.views.search import search_record as view_of_search
from services.records.views.summary import chart_summary as view_of_summary
from services.records.views.view import with_future_marked, with_refuted

Day: TypeAlias = Annotated[str | None, Field(max_length=10)]
FirstDay: TypeAlias = Annotated[Day, Field(description="ISO date or year.")]
"""Told once to an agent, of the tool that all have who read charts."""
Name: TypeAlias = Annotated[str | None, Field(max_length=80)]
Last: TypeAlias = Annotated[int | None, Field(ge=1, le=1_000)]
_View: TypeAlias = Callable[..., ChartView]
_Run: TypeAlias = Callable[..., Awaitable[ChartView]]
PAPERS_FOUND = 5
ATTACHED_KIND = "attached"
"""The kind by which `documents` lists what users gave, and nothing of the record."""


class Chart(NamedTuple):
    """A record, and when it is looked at."""

    record: PatientRecord
    now: datetime

    @property
    def today(self) -> date:
        """The day on which it is looked at."""
        return self.now.date()


def chart_tools(records: PatientRecords) -> tuple[Tool, ...]:
    """Return the tools over `records`."""
    return tools_of(*(_with_papers(_over(records, view)) for view in (*_VIEWS, *_VIEWS_OF_BOARDS)))


def _over(records: PatientRecords, view: _View) -> _Run:
    @wraps(view)
    async def run(turn: TurnContext, **asked: Any) -> ChartView:
        need_of, now = _NEEDS.get(view.__name__), turn.request.now
        need = needs.need_of_tool(view.__name__) if need_of is None else need_of(asked)
        record = await records.load(turn.patient_id, need)
        made = await make_view(record, lambda one: view(Chart(one, now), **asked))
        return with_future_marked(made, now.date())

    return run


# The tools of documents look through the papers that users gave too, beside the record.


def _with_papers(run: _Run) -> _Run:
    """Return the tool `run` that looks through the papers too, if it reads documents."""
    look = _BESIDE.get(run.__name__)
    if run.__name__ == "read_document":
        return _reading(run)
    if look is None:
        return run

    @wraps(run)
    async def run_beside(turn: TurnContext, **asked: Any) -> ChartView:
        view, papers = await run(turn, **asked), await _papers(turn)
        return view if papers is None else beside(view, look(papers, asked))

    return run_beside


def _reading(run: _Run) -> _Run:
    @wraps(run)
    async def read(turn: TurnContext, **asked: Any) -> ChartView:
        if not is_paper(asked["id"]):
            return await run(turn, **asked)
        papers = await _papers(turn)
        found = (
            None if papers is None else view_of_document(papers, asked["id"], page=asked["page"])
        )
        if found is None:
            raise ToolInputError("no such paper was given here; call documents for the ids")
        return of_papers(found)

    return read


async def _papers(turn: TurnContext) -> PatientRecord | None:
    papers = turn.request.papers
    return None if papers is None else await papers.record()


_BESIDE: Mapping[str, Callable[[PatientRecord, Mapping[str, Any]], ChartView]] = {
    "documents": lambda papers, asked: view_of_documents(
        papers, kind=None if asked["kind"] == ATTACHED_KIND else asked["kind"]
    ),
    "search_record": lambda papers, asked: view_of_search(
        papers, asked["query"], limit=PAPERS_FOUND
    ),
}


def day_asked(text: str | None, read: Callable[[str], date | None] = first_day) -> date | None:
    """Return the day that an argument means: of a month or year the one that `read` says.

    Raises:
        ToolInputError: it is no date.
    """
    if not text:
        return None
    if (day := read(text)) is None:
        raise ToolInputError("since and until must be dates such as 2024-05-09, 2024-05 or 2024")
    return day


def chart_summary(chart: Chart) -> ChartView:
    """One screen: allergies, problems, medications now, key results, visits, documents, gaps."""
    return view_of_summary(chart.record, today=chart.today, now=chart.now.isoformat())


def problems(chart: Chart, status: Literal["active", "resolved", "all"] = "active") -> ChartView:
    """Problems and diagnoses with onset, end and certainty."""
    view = view_of_problems(chart.record, status=status)
    return with_refuted(chart.record, view, "Condition") if status == "all" else view


def medications(
    chart: Chart,
    status: Literal["now", "stopped", "all"] = "now",
    name: Name = Field(default=None, description="Drug, brand or class."),
) -> ChartView:
    """Drugs with dose and since when."""
    return view_of_medications(chart.record, today=chart.today, status=status, name=name)


def results(
    chart: Chart,
    names: list[str] = Field(
        default_factory=list, max_length=20, description="Potassium, A1c, BP …"
    ),
    category: str | None = Field(
        default=None, max_length=40, description="laboratory, vital sign, survey, imaging …"
    ),
    since: FirstDay = None,
    until: Day = None,
    last: Last = Field(default=None, description="Of each."),
) -> ChartView:
    """Laboratory values, vital signs, scores, measurements, newest first; lowest, highest,
    change of each.
    """  # noqa: D205 - is told to models as it stands
    first, end = day_asked(since), day_asked(until, last_day)
    return view_of_results(
        chart.record, names=names, category=category, since=first, until=end, last=last
    )


def allergies(chart: Chart) -> ChartView:
    """Allergies and intolerances; “none known” is told from nothing recorded."""
    return with_refuted(chart.record, lists.allergies(chart.record), "AllergyIntolerance")


def immunizations(chart: Chart, name: Name = None) -> ChartView:
    """Vaccinations with dates."""
    return lists.immunizations(chart.record, name=name)


def procedures(chart: Chart, name: Name = None, since: Day = None) -> ChartView:
    """Procedures and operations with dates and outcome."""
    return lists.procedures(chart.record, name=name, since=day_asked(since))


def encounters(chart: Chart, since: Day = None, last: Last = None) -> ChartView:
    """Visits and hospital stays, newest first, after the appointments to come."""
    now = chart.now.isoformat()
    return lists.encounters(chart.record, now=now, since=day_asked(since), last=last)


def care(chart: Chart) -> ChartView:
    """Care plans, goals, team, devices, directives, flags, orders, coverage and contacts."""
    return lists.care(chart.record)


def history(chart: Chart) -> ChartView:
    """Family history and social history."""
    return lists.history(chart.record)


def documents(
    chart: Chart,
    kind: str | None = Field(
        default=None, max_length=60, description="imaging, pathology, note, attached …"
    ),
    since: Day = None,
) -> ChartView:
    """Notes and reports, without their text."""
    return view_of_documents(chart.record, kind=kind, since=day_asked(since))


def read_document(
    chart: Chart,
    id: str = Field(min_length=1, max_length=130),  # noqa: A002 - as FHIR calls it
    page: int = Field(default=1, ge=1, le=10_000),
) -> ChartView:
    """The full text of one document, by pages."""
    if (view := view_of_document(chart.record, id, page=page)) is None:
        raise ToolInputError(
            "this patient's record has no document of that id; call documents for the ids"
        )
    return view


def search_record(
    chart: Chart, query: str = Field(min_length=1, max_length=QUERY_LIMIT_CHARS)
) -> ChartView:
    """Entries and passages of notes that hold the words, or other names for them."""
    return view_of_search(chart.record, query)


def timeline(
    chart: Chart,
    since: Day = None,
    until: Day = None,
    kinds: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="problem, medication, imaging, note … or all.",
    ),
) -> ChartView:
    """The course, oldest first."""
    first, last = day_asked(since), day_asked(until, last_day)
    return course(chart.record, today=chart.today, since=first, until=last, kinds=kinds)


def load_patient_data(chart: Chart) -> ChartView:
    """Who the patient is and which documents exist."""
    return oncology.overview(chart.record, today=chart.today)


def current_status(chart: Chart) -> ChartView:
    """Age, sex, primary site, histology, staging, biomarkers, treatments, ECOG."""
    return oncology.status_view(chart.record, today=chart.today)


def imaging_reports(chart: Chart) -> ChartView:
    """Imaging reports and studies, newest first."""
    return chart.record.derived(oncology.imaging_view)


def pathology_reports(chart: Chart) -> ChartView:
    """Pathology and genetic reports, newest first."""
    return chart.record.derived(oncology.pathology_view)


def biomarkers(chart: Chart) -> ChartView:
    """Tumour markers and genetic findings."""
    return chart.record.derived(oncology.biomarkers_view)


def _need_of_results(asked: Mapping[str, Any]) -> Need:
    return needs.need_of_results(
        asked["names"],
        kind=kind_asked(asked["category"]) or "",
        since=day_asked(asked["since"]),
        until=day_asked(asked["until"], last_day),
    )


_NEEDS: Mapping[str, Callable[[Mapping[str, Any]], Need]] = {
    "results": _need_of_results,
    "history": lambda _: needs.need_of_history(),
    "read_document": lambda asked: needs.need_of_document(asked["id"]),
}
"""What of the chart a call reads, where it is not the same for every call."""
_VIEWS: tuple[_View, ...] = (
    chart_summary, problems, medications, results, allergies, immunizations, procedures,
    encounters, care, history, documents, read_document, search_record, timeline,
)  # fmt: skip
_VIEWS_OF_BOARDS: tuple[_View, ...] = (
    load_patient_data, current_status, imaging_reports, pathology_reports, biomarkers,
)  # fmt: skip
CHART_TOOLS = tuple(view.__name__ for view in _VIEWS)
RECORD_TOOLS = tuple(view.__name__ for view in _VIEWS_OF_BOARDS)
