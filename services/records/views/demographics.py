"""Who the patient is, for the banner."""

from datetime import date

from data_models.chart_view import ViewSource
from data_models.identifiers import PatientId
from data_models.values import ClosedValue
from data_models.written_order import in_written_order
from services.records.dates import day_text, first_day, last_day, years_between
from services.records.fhir_types import Patient
from services.records.record import PatientRecord
from services.records.views.person import IN_USE

_IDENTIFIER_LIMIT = 10


class Demographics(ClosedValue):
    """The patient's identity; None means not in the record.

    Attributes:
        age: Completed years, or years at death; two numbers when the birth date is partial.
        deceased: A sentence, or None when no death is recorded.
        identifiers: Record numbers as `system|value`, at most ten.
        source: The Patient resource.
    """

    patient_id: PatientId
    name: str | None
    birth_date: str | None
    age: str | None
    sex: str | None
    deceased: str | None
    identifiers: tuple[str, ...]
    source: ViewSource


def demographics(record: PatientRecord, *, today: date) -> Demographics:
    """Return the patient's identity as of `today`."""
    patient = record.patient
    ids = [f"{i.system or ''}|{i.value}" for i in patient.identifier if i.value]
    return Demographics(
        patient_id=record.patient_id,
        name=_name(patient),
        birth_date=day_text(patient.birth_date),
        age=_age(patient, today),
        sex=patient.gender,
        deceased=_deceased(patient),
        identifiers=tuple(ids[:_IDENTIFIER_LIMIT]),
        source=patient_source(record),
    )


def patient_source(record: PatientRecord) -> ViewSource:
    """Return the Patient resource as a source."""
    return ViewSource(ref=f"Patient/{record.patient.id or 'unnamed'}", date=None, title="Patient")


def _name(patient: Patient) -> str | None:
    ranked = sorted(patient.name, key=lambda name: name.use not in IN_USE)
    label = next((name.label for name in ranked if name.label), None)
    return None if label is None else in_written_order(label)


def _deceased(patient: Patient) -> str | None:
    died = day_text(patient.deceased_date_time)
    if died:
        return f"died {died}"
    return "died, date not in the record" if patient.deceased_boolean else None


def _age(patient: Patient, today: date) -> str | None:
    """Return the age at death or today; a death without a date leaves no age to tell."""
    born, died = patient.birth_date, patient.deceased_date_time
    if born is None or (patient.deceased_boolean and died is None):
        return None
    youngest, oldest = last_day(born), first_day(born)
    end = first_day(died) if died else today
    if youngest is None or oldest is None or end is None or end < oldest:
        return None
    low, high = years_between(min(youngest, end), end), years_between(oldest, end)
    return str(high) if low == high else f"{low} or {high}"
