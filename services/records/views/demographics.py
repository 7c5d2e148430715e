"""Who the patient is."""

from datetime import date

from data_models.chart_view import ViewSource, in_written_order
from data_models.identifiers import PatientId
from data_models.values import Value
from services.records.resources.dates import day_text, first_day, last_day, years_between
from services.records.resources.fhir_types import Patient
from services.records.resources.record import PatientRecord
from services.records.views.person import IN_USE

_NUMBERS_LIMIT = 10


class Demographics(Value):
    """The patient's identity; "" where the record has none.

    Attributes:
        age: Completed years, or years at death; two numbers when the birth date is partial.
        deceased: A sentence, or "" when no death is recorded.
        numbers: Record numbers without their systems, at most ten.
    """

    patient_id: PatientId
    name: str
    birth_date: str
    age: str
    sex: str
    deceased: str
    numbers: tuple[str, ...]


def demographics(record: PatientRecord, *, today: date) -> Demographics:
    """Return the patient's identity as of `today`."""
    patient = record.patient
    numbers = dict.fromkeys(one.value for one in patient.identifier if one.value)
    died, unknown = day_text(patient.deceased_date_time), "died, date not in the record"
    ranked = sorted(patient.name, key=lambda name: name.use not in IN_USE)
    return Demographics(
        patient_id=record.patient_id,
        name=in_written_order(next((name.label for name in ranked if name.label), "")),
        birth_date=day_text(patient.birth_date) or "",
        age=_age(patient, today),
        sex=patient.gender or "",
        deceased=f"died {died}" if died else unknown if patient.deceased_boolean else "",
        numbers=tuple(numbers)[:_NUMBERS_LIMIT],
    )


def patient_source(record: PatientRecord) -> ViewSource:
    """Return the Patient resource as a source."""
    return ViewSource(ref=f"Patient/{record.patient.id or 'unnamed'}", date=None, title="Patient")


def _age(patient: Patient, today: date) -> str:
    """Return the age at death or today; a death without a date leaves no age to tell."""
    born, died = patient.birth_date, patient.deceased_date_time
    if born is None or (patient.deceased_boolean and died is None):
        return ""
    youngest, oldest = last_day(born), first_day(born)
    end = first_day(died) if died else today
    if youngest is None or oldest is None or end is None or end < oldest:
        return ""
    low, high = years_between(min(youngest, end), end), years_between(oldest, end)
    return str(high) if low == high else f"{low} or {high}"
