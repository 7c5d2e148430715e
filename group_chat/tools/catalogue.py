"""All tools that `team.yaml` may name."""

from collections.abc import Mapping
from dataclasses import dataclass

from data_models.clock import Clock, IdSource
from group_chat.tools import session_tools
from group_chat.tools.chart_tools import CHART_TOOLS, RECORD_TOOLS, chart_tools
from group_chat.tools.clinic.order_tools import ORDER_TOOLS, OrderTools
from group_chat.tools.clinic.scheduling_tools import SCHEDULING_TOOLS, SchedulingTools
from group_chat.tools.evidence_tools import EVIDENCE_TOOLS, EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from group_chat.tools.personal.calendar_tools import CALENDAR, TASKS
from group_chat.tools.personal.mail_tools import CONTACTS, DOCUMENTS, MAIL
from group_chat.tools.personal.personal import PersonalAssistant
from group_chat.tools.team_tools import ORDERS, team_tools
from group_chat.tools.tool import Tool, refusing_tools
from services.records.resources.ports import PatientRecords

_NO_ORDERS = "drafts of orders are switched off here; tell the user"
_OWN = (CALENDAR, MAIL, CONTACTS, TASKS, DOCUMENTS)
TOOL_NAMES = (
    *ORDERS,
    "list_roster",
    *CHART_TOOLS,
    *RECORD_TOOLS,
    *EVIDENCE_TOOLS,
    "create_report",
    "update_entities",
    session_tools.RECALL,
    "changes",
    *(tool.name for tool in session_tools.SCENARIO_TOOLS),
    *SCHEDULING_TOOLS,
    *ORDER_TOOLS,
    *(name for own in _OWN for name in own.names),
    *(tool.name for tool in session_tools.WORKFLOW_TOOLS),
)
"""Known before anything is built, so that a team is checked at start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """What tools reach beside the chart.

    Attributes:
        clinic: Doctors, times and persons.
        office: The users' own calendars, mail, contacts, tasks and documents.
        evidence: Guidelines and studies.
        foreign: Tools of other systems.
        orders: Drafts of orders; None where they are switched off.
    """

    clinic: SchedulingTools
    office: PersonalAssistant
    evidence: EvidenceTools
    foreign: ForeignTools
    orders: OrderTools | None = None


def catalogue(
    *,
    records: PatientRecords,
    names: tuple[str, ...],
    clock: Clock,
    ids: IdSource,
    is_language_model: bool,
    connected: Connected,
) -> Mapping[str, Tool]:
    """Return the tools by name.

    Args:
        names: The team, facilitator first.
        is_language_model: Told in documents that agents make.
    """
    on = connected
    tools = (
        *team_tools(names=names, clock=clock, ids=ids),
        *chart_tools(records),
        *on.evidence.tools(),
        *session_tools.report_tool(
            records=records, names=names, facilitator=names[0], is_language_model=is_language_model
        ),
        *session_tools.memory_tools(records),
        *session_tools.SCENARIO_TOOLS,
        *on.clinic.tools(),
        *(on.orders.tools() if on.orders else refusing_tools(ORDER_TOOLS, _NO_ORDERS)),
        *(tool for own in _OWN for tool in own.over(on.office)),
        *session_tools.WORKFLOW_TOOLS,
        *on.foreign.tools(),
    )
    return {tool.name: tool for tool in tools}
