"""The oncology tools over the active patient's record; each returns a `ChartView`."""

from data_models.chart_view import ChartView
from group_chat.tools.chart_tools import ChartTool, tools_over
from group_chat.tools.tool import Tool
from group_chat.turn_context import TurnContext
from services.records.ports import PatientRecords
from services.records.record import PatientRecord
from services.records.views import oncology

RECORD_TOOLS = (
    "load_patient_data", "current_status", "imaging_reports", "pathology_reports", "biomarkers",
)  # fmt: skip


def records_tools(records: PatientRecords) -> tuple[Tool, ...]:
    """Return the tools over `records`."""
    return tools_over(records, _TOOLS)


def _overview(record: PatientRecord, turn: TurnContext, _: object) -> ChartView:
    return oncology.overview(record, today=turn.request.now.date())


def _status(record: PatientRecord, turn: TurnContext, _: object) -> ChartView:
    return oncology.status_view(record, today=turn.request.now.date())


_TOOLS = (
    ChartTool("load_patient_data", _overview, "Who the patient is and which documents exist."),
    ChartTool(
        "current_status",
        _status,
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
