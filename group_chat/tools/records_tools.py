"""Tools that read the active patient's records; each result carries its source ids."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from data_models.errors import ToolInputError
from group_chat.tools.tool import NoArguments, Tool, ToolOutput
from group_chat.turn_context import TurnContext
from services.records.dates import first_day, last_day
from services.records.ports import PatientRecords
from services.records.record import PatientRecord
from services.records.views.biomarkers import biomarkers
from services.records.views.demographics import demographics
from services.records.views.notes import list_notes, search_notes
from services.records.views.reports import imaging_reports, imaging_studies, pathology_reports
from services.records.views.status import current_status
from services.records.views.timeline import timeline

_RunView = Callable[[TurnContext, Any], Awaitable[ToolOutput]]
_NOTES_SHOWN = 40
_TIMELINE_SHOWN = 60
_REPORTS_SHOWN = 8
_STUDIES_SHOWN = 20


class TimelineArguments(BaseModel):
    """Which part of the course."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    since: str | None = Field(default=None, max_length=10, description="First day, YYYY-MM-DD.")
    until: str | None = Field(default=None, max_length=10, description="Last day, YYYY-MM-DD.")


class SearchArguments(BaseModel):
    """What to look for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str = Field(min_length=1, max_length=400, description="Words to look for.")


def records_tools(records: PatientRecords) -> tuple[Tool, ...]:
    """Return the tools over `records`."""

    def tool(
        name: str,
        view: Callable[[PatientRecord, TurnContext, Any], ToolOutput],
        description: str,
        arguments: type[BaseModel] = NoArguments,
    ) -> Tool:
        return Tool(name, description, arguments, _over(records, view))

    return (
        tool("load_patient_data", _overview, "Who the patient is and which documents exist."),
        tool(
            "patient_timeline",
            _timeline,
            "The course of the illness, oldest first. If it is shortened, its oldest events "
            "are missing: call again with until set to the first date shown.",
            TimelineArguments,
        ),
        tool(
            "search_notes",
            _search,
            "Passages of notes and reports that hold the words.",
            SearchArguments,
        ),
        tool(
            "current_status",
            _status,
            "Age, sex, primary site, histology, staging, biomarkers, treatments, ECOG.",
        ),
        tool("imaging_reports", _imaging, "Imaging reports and studies, newest first."),
        tool("pathology_reports", _pathology, "Pathology and genetic reports, newest first."),
        tool("biomarkers", _biomarkers, "Tumour markers and genetic findings."),
    )


def _over(
    records: PatientRecords, view: Callable[[PatientRecord, TurnContext, Any], ToolOutput]
) -> _RunView:
    async def run(turn: TurnContext, arguments: Any) -> ToolOutput:
        return view(await records.load(turn.patient_id), turn, arguments)

    return run


def _overview(record: PatientRecord, turn: TurnContext, _: Any) -> ToolOutput:
    return {
        "patient": demographics(record, today=turn.request.now.date()).model_dump(mode="json"),
        "documents": list_notes(record, limit=_NOTES_SHOWN).model_dump(mode="json"),
    }


def _timeline(record: PatientRecord, _: TurnContext, asked: TimelineArguments) -> ToolOutput:
    since = _day(asked.since, first_day)
    until = _day(asked.until, last_day)
    return timeline(record, since=since, until=until, limit=_TIMELINE_SHOWN)


def _day(text: str | None, read: Callable[[str], date | None]) -> date | None:
    if not text:
        return None
    day = read(text)
    if day is None:
        raise ToolInputError("since and until must be dates such as 2024-05-09, 2024-05 or 2024")
    return day


def _search(record: PatientRecord, _: TurnContext, asked: SearchArguments) -> ToolOutput:
    return search_notes(record, asked.query)


def _status(record: PatientRecord, turn: TurnContext, _: Any) -> ToolOutput:
    status = current_status(record, today=turn.request.now.date())
    return {**status.model_dump(mode="json"), "not_in_the_record": list(status.missing())}


def _imaging(record: PatientRecord, _: TurnContext, __: Any) -> ToolOutput:
    return {
        "reports": imaging_reports(record, limit=_REPORTS_SHOWN).model_dump(mode="json"),
        "studies": imaging_studies(record, limit=_STUDIES_SHOWN).model_dump(mode="json"),
    }


def _pathology(record: PatientRecord, _: TurnContext, __: Any) -> ToolOutput:
    return pathology_reports(record, limit=_REPORTS_SHOWN)


def _biomarkers(record: PatientRecord, _: TurnContext, __: Any) -> ToolOutput:
    return biomarkers(record)
