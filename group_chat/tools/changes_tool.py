"""The tool that tells what changed in the active patient's chart since the user's last look."""

from pydantic import Field

from data_models.chart_view import ChartView
from group_chat.tools.chart_tools import DAY, ChartArguments, first_asked, last_asked
from group_chat.tools.tool import Tool
from group_chat.turn_context import TurnContext
from services.evidence.changes import TOOL, changes_of_days, changes_view
from services.evidence.chart_states import chart_states
from services.records.big_charts import make_view
from services.records.ports import PatientRecords
from services.records.record import PatientRecord
from services.records.views.view import view_of

_NOT_KEPT = (
    "It is not kept here when you looked at a chart, so nothing can be compared. "
    "With a day I can tell what is new: what is new since 1 May?"
)


class ChangesArguments(ChartArguments):
    """Since when; without a day, since the user last looked."""

    since: str | None = Field(default=None, max_length=10, description=DAY)
    until: str | None = Field(default=None, max_length=10, description=DAY)


def changes_tool(records: PatientRecords) -> Tool:
    """Return the tool over `records`."""

    async def run(turn: TurnContext, asked: ChangesArguments) -> ChartView:
        record = await records.load(turn.patient_id)
        return await make_view(record, lambda one: _view(one, turn, asked))

    description = "What is new, changed, ended or resulted since the user last looked, or in days."
    return Tool(TOOL, description, ChangesArguments, run)


def _view(record: PatientRecord, turn: TurnContext, asked: ChangesArguments) -> ChartView:
    now = turn.request.now
    if asked.since is None and asked.until is None:
        if turn.request.look is None:
            return view_of(record, TOOL, "Changes", [], nothing=_NOT_KEPT)
        return changes_view(record, turn.request.look.baseline, chart_states(record, at=now))
    since, until = first_asked(asked.since), last_asked(asked.until)
    return changes_of_days(record, since=since, until=until, today=now.date())
