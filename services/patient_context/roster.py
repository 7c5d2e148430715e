"""The registry as values: who was used last, and the one function that changes who is active."""

from collections.abc import Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any

from data_models.identifiers import PatientId, hashed
from data_models.patient_context_models import PatientContext, Registry
from services.language.words.folding import words_of

SETTLED_LIMIT = 50
SEEN_LIMIT = 100


def last_used_first(registry: Registry) -> tuple[PatientId, ...]:
    """Return the roster, the patient who was activated last first."""
    rows = registry.patient_registry.values()
    newest_first = sorted(rows, key=attrgetter("updated_at"), reverse=True)
    return tuple(map(attrgetter("patient_id"), newest_first))


def with_active(
    registry: Registry,
    patient_id: PatientId,
    *,
    now: datetime,
    facts: Mapping[str, Any] | None = None,
) -> Registry:
    """Return a copy of `registry` in which `patient_id` is active and was used `now`.

    Args:
        facts: Who they were found to be just now; None keeps what was noted.
    """
    if (row := registry.patient_registry.get(patient_id)) is None:
        row = PatientContext(
            patient_id=patient_id,
            conversation_id=registry.conversation_id,
            created_at=now,
            updated_at=now,
        )
    noted = row.facts if facts is None else dict(facts)
    row = row.model_copy(update={"updated_at": now, "facts": noted})
    roster = {**registry.patient_registry, patient_id: row}
    changed = {
        "active_patient_id": patient_id,
        "patient_registry": roster,
        "compared": [],
        "settled": _still_settled(registry.settled, patient_id, str(noted.get("name", ""))),
    }
    return registry.model_copy(update=changed)


def _still_settled(
    settled: Mapping[str, PatientId], opened: PatientId, name: str
) -> dict[str, PatientId]:
    """Return whom words mean still, now that somebody of that name is open.

    "Koepp" was Abdul; behind "Willy Koepp" it may be either, and is asked about again.
    """
    own = set(words_of(name))
    return {
        said: one
        for said, one in settled.items()
        if one == opened or not own or not set(words_of(said)) <= own
    }


def with_settled(registry: Registry, said: str, patient_id: PatientId) -> Registry:
    """Return a copy of `registry` that remembers whom the user means by `said`."""
    settled = {**registry.settled, said.casefold(): patient_id}
    return registry.model_copy(update={"settled": dict([*settled.items()][-SETTLED_LIMIT:])})


def with_seen(registry: Registry, user: str, patient_id: PatientId) -> Registry:
    """Return a copy of `registry` in which `user` last wrote beside the chart of `patient_id`."""
    seen = {**registry.seen_by, hashed(user): patient_id}
    return registry.model_copy(update={"seen_by": dict([*seen.items()][-SEEN_LIMIT:])})


def last_seen(registry: Registry, user: str) -> PatientId | None:
    """Return beside whose chart `user` last wrote; None before their first message."""
    return registry.seen_by.get(hashed(user))
