"""The registry as values: who was used last, and the one function that changes who is active."""

from datetime import datetime

from data_models.identifiers import PatientId
from data_models.patient_context_models import PatientContext, Registry


def last_used_first(registry: Registry) -> tuple[PatientId, ...]:
    """Return the roster, the patient who was activated last first."""
    rows = registry.patient_registry.values()
    newest_first = sorted(rows, key=lambda row: row.updated_at, reverse=True)
    return tuple(row.patient_id for row in newest_first)


def with_active(registry: Registry, patient_id: PatientId, *, now: datetime) -> Registry:
    """Return a copy of `registry` in which `patient_id` is active and was used `now`."""
    row = registry.patient_registry.get(patient_id)
    if row is None:
        row = PatientContext(
            patient_id=patient_id,
            conversation_id=registry.conversation_id,
            created_at=now,
            updated_at=now,
        )
    row = row.model_copy(update={"updated_at": now})
    roster = {**registry.patient_registry, patient_id: row}
    return registry.model_copy(update={"active_patient_id": patient_id, "patient_registry": roster})
