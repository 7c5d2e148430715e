"""What Rounds needs from a store of patient records, said without naming one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from data_models.identifiers import PatientId
from services.records.resources.need import EVERYTHING, Need
from services.records.resources.record import PatientRecord


@dataclass(frozen=True, slots=True)
class ChartPatient:
    """A Patient resource as received, and the id of its chart.

    Merged (`active`, `link`) and retired identifiers (`use`, `period`) are in `body`: whoever
    looks a person up decides by them.
    """

    patient_id: PatientId
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AllPatients:
    """Every patient of the records; not all of them where `is_complete` is False."""

    patients: Sequence[ChartPatient]
    is_complete: bool = True


class PatientRecords(Protocol):
    """Reads patients' records; never writes."""

    async def load(self, patient_id: PatientId, need: Need = EVERYTHING) -> PatientRecord:
        """Return what is known about the patient, at least what is needed.

        The answer may be some seconds old. A failure is never an empty record.

        Raises:
            RecordNotFoundError: no patient carries the id.
            RecordAmbiguousError: more than one does.
            RecordsUnavailableError: the records do not answer; trying again may help.
            RecordsRefusedError: our credentials were refused.
            RecordsUnreadableError: the answer is not FHIR R4 or over a limit.
        """
        ...
