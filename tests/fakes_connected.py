"""What tools reach in tests that connect nothing: no office, no guidelines, no other system."""

from collections.abc import Collection
from datetime import tzinfo
from typing import Any, cast

from data_models.clock import Clock
from data_models.errors import AssistantError
from data_models.identifiers import PatientId
from data_models.storage.blob_store import BlobStore
from group_chat.tools.catalogue import Connected
from group_chat.tools.clinic.scheduling_tools import SCHEDULING_TOOLS, SchedulingTools
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from group_chat.tools.personal.personal import PersonalAssistant
from group_chat.tools.tool import Tool, refusing_tools
from services.assistant.back_end import AssistantBackEnd, AssistantServices
from services.assistant.undo_log import AssistantService
from services.evidence.guidelines.library import GuidelineFolder
from services.evidence.trials.sources import StudyFolder
from services.records.patient_names import PatientNames
from services.records.resources.ports import PatientRecords
from services.scheduling.clinic import Clinic
from tests.fakes_store import MemoryBlobStore


class NoAssistant:
    """A back end of which nobody has anything."""

    def of(self, principal_id: str, *, zone: tzinfo) -> AssistantServices:
        raise AssistantError("no calendar, mail, contacts, tasks or documents are set up")


class RosterOnly:
    """Knows no patient but those of the conversation."""

    async def names_of_others(
        self, patient_id: PatientId | None, roster: Collection[str]
    ) -> frozenset[str]:
        return frozenset(one for one in roster if one != patient_id)


class NoClinic(SchedulingTools):
    """Tools of a clinic that does not answer: they say so."""

    def tools(self) -> tuple[Tool, ...]:
        return tuple(refusing_tools(SCHEDULING_TOOLS, "the clinic is not there; tell the user"))


def office_over(
    back_end: AssistantBackEnd, names: PatientNames | None = None, store: BlobStore | None = None
) -> PersonalAssistant:
    """Return everybody's own things, with what is kept beside them in `store`."""
    service = AssistantService(back_end=back_end, store=store or MemoryBlobStore())
    return PersonalAssistant(service, names or RosterOnly())


def connected_in(records: PatientRecords, clock: Clock, **given: Any) -> Connected:
    """Return what is `given`, and beside it nothing that answers."""
    foreign = ForeignTools(servers=(), records=records, names=RosterOnly())
    own: dict[str, Any] = {
        "clinic": NoClinic(clinic=cast(Clinic, None)),
        "office": office_over(NoAssistant()),
        "evidence": EvidenceTools(
            guidelines=GuidelineFolder(folder=None, clock=clock),
            studies=StudyFolder(folder=None),
            records=records,
            outside=foreign,
        ),
        "foreign": foreign,
    }
    return Connected(**own | {name: one for name, one in given.items() if one is not None})
