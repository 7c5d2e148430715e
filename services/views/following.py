"""Which patient a record system has opened, and what that means for the user's conversation."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from data_models.errors import ChartClosedError
from data_models.identifiers import PatientId
from services.identity.names.person import person_from
from services.views.conversation_reader import ConversationReader
from services.views.conversation_view import ConversationView
from services.views.drafts import Drafts
from services.views.patient_finder import FoundPatient, PatientFinder, found_row

Course: TypeAlias = Literal["same", "switch", "ask"]
"""The patient is open; may be opened now; or the user is asked first."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A patient of ours whom the record system opened.

    Attributes:
        seen_at: The state of the conversation that `course` was chosen for.
    """

    course: Course
    patient: FoundPatient
    seen_at: datetime


def course_of(
    patient_id: PatientId, view: ConversationView, *, has_draft: bool, is_late: bool
) -> Course:
    """Return what an idle conversation does of itself, and where its user is asked.

    Args:
        patient_id: Who was opened.
        view: The conversation as it stands.
        has_draft: Whether the user has begun to write.
        is_late: Whether it is told after the fact, when the line was down.
    """
    if view.patient_id == patient_id:
        return "same"
    is_planned = view.plan is not None and view.plan.status in ("proposed", "running")
    waits = view.question is not None or is_planned
    runs = view.running_turn is not None or view.queued > 0
    return "ask" if waits or runs or has_draft or is_late else "switch"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientFollower:
    """Knows whose chart another system's Patient is, under the rights of the user alone."""

    finder: PatientFinder
    reader: ConversationReader
    drafts: Drafts

    async def find_opened(
        self, resource: Mapping[str, Any], *, owner: str, conversation_id: str, is_late: bool
    ) -> Opened:
        """Return the patient here, and what to do.

        Raises:
            ChartClosedError: they are nobody's here, several persons', or closed to the user.
            RoundsError: nobody can tell just now.
        """
        today = self.reader.clock.now().date()
        patient_id = await self.finder.same_person(resource, owner=owner, today=today)
        person = person_from(resource, patient_id=patient_id, today=today)
        if person is None:
            raise ChartClosedError
        view = await self.reader.view(conversation_id, owner=owner)
        has_draft = await self._has_draft(view, owner)
        course = course_of(patient_id, view, has_draft=has_draft, is_late=is_late)
        return Opened(course, found_row(person), view.updated_at)

    async def _has_draft(self, view: ConversationView, owner: str) -> bool:
        if view.patient_id is None:
            return False
        found = await self.drafts.read(view.chat_id, owner=owner, patient_id=view.patient_id)
        return bool(found.text.strip())
