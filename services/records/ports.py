"""What Rounds needs from a store of patient records, said without naming one."""

from typing import Protocol

from data_models.identifiers import PatientId
from services.records.record import PatientRecord


class PatientRecords(Protocol):
    """Reads patients' records; never writes."""

    async def load(self, patient_id: PatientId) -> PatientRecord:
        """Return everything known about the patient.

        The answer may be some seconds old. A failure is never an empty record.

        Raises:
            RecordNotFoundError: no patient carries the id.
            RecordAmbiguousError: more than one does.
            RecordsUnavailableError: the records do not answer; trying again may help.
            RecordsRefusedError: our credentials were refused.
            RecordsUnreadableError: the answer is not FHIR R4 or over a limit.
        """
        ...
