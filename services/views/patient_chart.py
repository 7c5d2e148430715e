"""Shows the chart of a patient beside the conversation, without a turn."""

from data_models.chart_view import ChartView
from data_models.clock import Clock
from data_models.errors import NotFoundError
from services.audit.entry import AuditEntry
from services.audit.trail import Audit
from services.records.ports import PatientRecords
from services.views.chart_parts import check_part, view_of_part
from services.views.conversation_reader import ConversationReader


class PatientChart:
    """Answers for patients in the caller's own conversation only, and leaves an audit record."""

    def __init__(
        self, *, reader: ConversationReader, records: PatientRecords, audit: Audit, clock: Clock
    ) -> None:
        self._reader = reader
        self._records = records
        self._audit = audit
        self._clock = clock

    async def part(
        self, conversation_id: str, *, owner: str, patient_id: str, part: str, name: str = ""
    ) -> ChartView:
        """Return a part of the chart: one of `PARTS`.

        Args:
            name: With `results`: the values of one thing over time, the newest 60.

        Raises:
            BadFrameError: there is no such part; the text names those that are.
            NotFoundError: no such conversation, not the owner's, or the patient is not in it.
            ChartClosedError: the patient's chart is not open to the owner.
            RecordsError: the records have no answer.
        """
        check_part(part, name)
        patient = await self._reader.roster_member(
            conversation_id, owner=owner, patient_id=patient_id
        )
        if patient is None:
            raise NotFoundError("no such patient here")
        await self._audit.record(
            AuditEntry(
                principal=owner,
                conversation=conversation_id,
                patient=patient,
                actions=(f"read_{part}",),
            )
        )
        return await view_of_part(self._records, patient, part, name=name, now=self._clock.now())
