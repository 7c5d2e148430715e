"""The parts of a chart that are shown without a turn, and how each is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from data_models.chart_view import ChartView
from data_models.errors import BadFrameError
from data_models.identifiers import PatientId
from services.records.big_charts import make_view
from services.records.ports import PatientRecords
from services.records.record import PatientRecord
from services.records.views.course import course
from services.records.views.lists import allergies, encounters
from services.records.views.medications import medications
from services.records.views.needs import need_of_results, need_of_tool
from services.records.views.papers import documents
from services.records.views.problems import problems
from services.records.views.results import results
from services.records.views.summary import chart_summary

NAME_LIMIT_CHARS = 200
_VALUES_OF_ONE = 60


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of the chart, and the tool whose reads it shares."""

    tool: str
    view: Callable[[PatientRecord, datetime], ChartView]


_PARTS: Mapping[str, _Part] = {
    "summary": _Part(
        "chart_summary",
        lambda record, now: chart_summary(record, today=now.date(), now=now.isoformat()),
    ),
    "results": _Part("results", lambda record, _: results(record)),
    "problems": _Part("problems", lambda record, _: problems(record, status="all")),
    "medications": _Part(
        "medications", lambda record, now: medications(record, today=now.date(), status="all")
    ),
    "allergies": _Part("allergies", lambda record, _: allergies(record)),
    "timeline": _Part("timeline", lambda record, now: course(record, today=now.date())),
    "encounters": _Part(
        "encounters", lambda record, now: encounters(record, now=now.isoformat(), last=50)
    ),
    "documents": _Part("documents", lambda record, _: documents(record)),
}
PARTS = tuple(_PARTS)


def check_part(part: str, name: str) -> None:
    """Return if there is such a part, and `name` may go with it.

    Raises:
        BadFrameError: not so; the text names what may be asked for.
    """
    if part not in _PARTS:
        raise BadFrameError(f"part must be one of {', '.join(PARTS)}")
    if len(name) > NAME_LIMIT_CHARS or (name and part != "results"):
        raise BadFrameError("name is of one result, at most 200 characters, with part=results")


async def view_of_part(
    records: PatientRecords, patient_id: PatientId, part: str, *, name: str, now: datetime
) -> ChartView:
    """Return a part of the chart that says whose it is; who may see it is asked before.

    Args:
        part: One of `PARTS`.
        name: With `results`: the values of one thing over time, the newest 60.

    Raises:
        RecordsError: the records have no answer.
    """
    if name:
        record = await records.load(patient_id, need_of_results([name]))
        found = await make_view(record, lambda one: results(one, names=[name], last=_VALUES_OF_ONE))
    else:
        shown = _PARTS[part]
        need = need_of_results([]) if shown.tool == "results" else need_of_tool(shown.tool)
        record = await records.load(patient_id, need)
        found = await make_view(record, lambda one: shown.view(one, now))
    # Whose rows they are goes with them: a page must never draw them under another's name.
    return found.model_copy(update={"patient_id": patient_id})
