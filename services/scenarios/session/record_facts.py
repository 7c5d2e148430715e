"""What a patient's record says about fields that scenarios ask for; read-only (page 5.2)."""

from collections.abc import Collection, Mapping
from datetime import UTC

import structlog

from data_models.clock import Clock
from data_models.errors import RecordsError
from data_models.identifiers import PatientId
from data_models.scenario_session import ProfileField
from services.records.need import PERSON
from services.records.ports import PatientRecords
from services.records.views.demographics import Demographics, demographics
from services.scenarios.definition.definition_reader import AGE, BIRTH_DATE, IN_RECORDS, NAME, SEX
from services.scenarios.session.facts import RECORD

_log = structlog.get_logger()


class RecordFacts:
    """Reads the record only where a field is asked about that records hold."""

    def __init__(self, *, records: PatientRecords, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def read(
        self, patient_id: PatientId | None, names: Collection[str]
    ) -> dict[str, ProfileField]:
        """Return what the record holds of the fields `names`; nothing if it cannot be read.

        A field that the record does not answer is asked for, like any other.
        """
        wanted = IN_RECORDS.intersection(names)
        if patient_id is None or not wanted:
            return {}
        try:
            record = await self._records.load(patient_id, PERSON)
        except RecordsError as error:
            _log.info("scenario_record_not_read", code=error.code)
            return {}
        today = self._clock.now().astimezone(UTC).date()
        known = _values(demographics(record, today=today))
        return {
            name: ProfileField(value=known[name], source=RECORD) for name in wanted & known.keys()
        }


def _values(person: Demographics) -> Mapping[str, str | int]:
    known: dict[str, str | int] = {}
    if person.birth_date is not None and len(person.birth_date) == len("2030-01-01"):
        known |= dict.fromkeys(BIRTH_DATE, person.birth_date)
    if person.age is not None and person.age.isdecimal():
        known |= dict.fromkeys(AGE, int(person.age))
    if person.sex is not None:
        known |= dict.fromkeys(SEX, person.sex)
    if person.name is not None:
        known |= dict.fromkeys(NAME, person.name)
    return known
