"""Writes which tools steps of scenarios may run: `python -m scripts.step_tools`."""

import json
from pathlib import Path
from typing import cast

from data_models.clock import RandomIds, SystemClock
from group_chat.tools.catalogue import Connected, catalogue
from group_chat.tools.clinic.order_tools import OrderTools
from group_chat.tools.clinic.scheduling_tools import SchedulingTools
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from group_chat.tools.personal.personal import PersonalAssistant
from services.assistant.undo_log import AssistantService
from services.evidence.guidelines.library import GuidelineFolder
from services.evidence.trials.sources import StudySource
from services.orders.order_drafts import OrderDrafts
from services.records.patient_names import PatientNames
from services.records.resources.ports import PatientRecords
from services.scheduling.clinic import Clinic

FILE = Path(__file__).parents[1] / "services" / "scenarios" / "definition" / "step_tools.json"


def step_tools_text() -> str:
    """Return by tool its arguments, and whether each has to be given, as JSON."""
    ids = RandomIds()
    # Only names and shapes are read: nothing behind the tools is there.
    records = cast(PatientRecords, None)
    clinic = SchedulingTools(clinic=cast(Clinic, None))
    names = cast(PatientNames, None)
    office = PersonalAssistant(cast(AssistantService, None), names)
    foreign = ForeignTools(servers=(), records=records, names=names)
    folder, studies = cast(GuidelineFolder, None), cast(StudySource, None)
    evidence = EvidenceTools(guidelines=folder, studies=studies, records=records, outside=foreign)
    orders = OrderTools(drafts=cast(OrderDrafts, None), records=records, ids=ids)
    tools = catalogue(
        records=records,
        names=("lead",),
        clock=SystemClock(),
        ids=ids,
        is_language_model=False,
        connected=Connected(
            clinic=clinic, office=office, evidence=evidence, foreign=foreign, orders=orders
        ),
    )
    rows = {
        name: {
            field: info.is_required() for field, info in sorted(tool.arguments.model_fields.items())
        }
        for name, tool in sorted(tools.items())
    }
    return json.dumps(rows, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(step_tools_text(), encoding="utf-8")
