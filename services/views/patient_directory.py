"""Tells who a patient of a conversation is, for the banner."""

from pydantic import BaseModel

from data_models.clock import Clock
from data_models.errors import NotFoundError
from services.audit.entry import AuditEntry
from services.audit.trail import Audit
from services.records.need import PERSON
from services.records.ports import PatientRecords
from services.records.views.demographics import demographics
from services.views.conversation_reader import ConversationReader


class Demographics(BaseModel):
    """What a clinician checks before reading on: who this patient is."""

    patient_id: str
    name: str | None
    birth_date: str | None
    sex: str | None


class PatientDirectory:
    """Answers for patients in the caller's own conversation only, and leaves an audit record."""

    def __init__(
        self,
        *,
        reader: ConversationReader,
        records: PatientRecords,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._reader = reader
        self._records = records
        self._audit = audit
        self._clock = clock

    async def demographics(
        self, conversation_id: str, *, owner: str, patient_id: str
    ) -> Demographics:
        """Return who `patient_id` is.

        Raises:
            NotFoundError: no such conversation, not the owner's, or the patient is not in it.
            RecordsError: the records have no answer.
        """
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
                actions=("read_demographics",),
            )
        )
        record = await self._records.load(patient, PERSON)
        shown = demographics(record, today=self._clock.now().date())
        return Demographics(
            patient_id=patient, name=shown.name, birth_date=shown.birth_date, sex=shown.sex
        )
