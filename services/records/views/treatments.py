"""What was done to treat the patient."""

from services.records.dates import day_text
from services.records.facts import Source, View
from services.records.fhir_resources import MedicationResource, Procedure
from services.records.record import PatientRecord

_NOT_DONE = {
    "not-done": "not done",
    "not-taken": "not taken",
    "on-hold": "on hold",
    "stopped": "stopped",
    "intended": "intended, not yet taken",
    "draft": "drafted, not ordered",
    "in-progress": "in progress",
    "preparation": "in preparation",
}


class Treatment(View):
    """One drug or procedure.

    Attributes:
        kind: `medication` or `procedure`.
        name: As recorded; `unnamed` when the record has no name.
        start: Partial dates stay partial.
        end: None when open or not recorded.
        detail: Dose, reason, outcome and anything unusual about its state.
    """

    kind: str
    name: str
    start: str | None
    end: str | None
    detail: str | None
    source: Source


def treatments(record: PatientRecord) -> list[Treatment]:
    """Return all drugs and procedures, oldest first, undated last."""
    drugs = [_drug(record, ref, drug) for ref, drug in record.of(MedicationResource)]
    done = [_procedure(ref, procedure) for ref, procedure in record.of(Procedure)]
    return sorted([*drugs, *done], key=lambda t: (t.start is None, t.start or "", t.source.ref))


def _drug(record: PatientRecord, ref: str, drug: MedicationResource) -> Treatment:
    name = _drug_name(record, drug)
    reasons = [f"for {reason.label}" for reason in drug.reason_code if reason.label]
    notes = [note.text for note in drug.note if note.text]
    parts = [drug.dose_text, *reasons, _state(drug.status), *notes]
    start = day_text(drug.clinical_date)
    return Treatment(
        kind="medication",
        name=name,
        start=start,
        end=day_text(drug.effective_period.end) if drug.effective_period else None,
        detail=_joined(parts),
        source=Source(ref=ref, date=start, title=name),
    )


def _drug_name(record: PatientRecord, drug: MedicationResource) -> str:
    if drug.medication_codeable_concept and drug.medication_codeable_concept.label:
        return drug.medication_codeable_concept.label
    pointer = drug.medication_reference
    if pointer is None:
        return "unnamed"
    found = record.medications.get(pointer.reference or "")
    label = found.code.label if found and found.code else None
    return label or pointer.display or "unnamed"


def _procedure(ref: str, procedure: Procedure) -> Treatment:
    name = (procedure.code.label if procedure.code else None) or "unnamed"
    sites = [site.label for site in procedure.body_site]
    outcome = procedure.outcome.label if procedure.outcome else None
    notes = [note.text for note in procedure.note]
    start = day_text(procedure.clinical_date)
    period = procedure.performed_period
    return Treatment(
        kind="procedure",
        name=name,
        start=start,
        end=day_text(period.end) if period else None,
        detail=_joined([*sites, _state(procedure.status), outcome, *notes]),
        source=Source(ref=ref, date=start, title=name),
    )


def _state(status: str | None) -> str | None:
    return _NOT_DONE.get(status or "")


def _joined(parts: list[str | None]) -> str | None:
    return "; ".join(part for part in parts if part) or None
