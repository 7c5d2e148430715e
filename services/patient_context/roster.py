"""The registry as values: who was used last, and the one function that changes who is active."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Any

from data_models.identifiers import PatientId, hashed
from data_models.patient_context_models import PatientContext, Registry
from services.language.words.folding import words_of
from services.patient_context.patient_turn import PatientTurn
from services.patient_context.verdict import PatientVerdict

SETTLED_LIMIT = 50
SEEN_LIMIT = 100


def last_used_first(registry: Registry) -> tuple[PatientId, ...]:
    """Return the roster, the patient who was activated last first."""
    rows = sorted(registry.patient_registry.values(), key=attrgetter("updated_at"), reverse=True)
    return tuple(map(attrgetter("patient_id"), rows))


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
    # "Koepp" was Abdul; behind "Willy Koepp" it may be either, and is asked about again.
    own = set(words_of(str(noted.get("name", ""))))
    changed = {
        "active_patient_id": patient_id,
        "patient_registry": roster,
        "compared": [],
        "settled": {
            said: one
            for said, one in registry.settled.items()
            if one == patient_id or not own or not set(words_of(said)) <= own
        },
    }
    return registry.model_copy(update=changed)


def without(registry: Registry, closed: Collection[PatientId]) -> Registry:
    """Return what is told of `registry` to whom `closed` charts are closed: nothing of those."""
    if not closed:
        return registry
    rows, settled, active = registry.patient_registry, registry.settled, registry.active_patient_id
    shown = {
        "active_patient_id": None if active in closed else active,
        "patient_registry": {one: row for one, row in rows.items() if one not in closed},
        "settled": {said: one for said, one in settled.items() if one not in closed},
        "compared": [] if {*registry.compared} & {*closed} else registry.compared,
    }
    return registry.model_copy(update=shown)


def rejoined(changed: Registry, whole: Registry, closed: Collection[PatientId]) -> Registry:
    """Return `changed`, made without the `closed` charts, with what `whole` holds of those."""
    if not closed:
        return changed
    rows = {one: row for one, row in whole.patient_registry.items() if one in closed}
    settled = {said: one for said, one in whole.settled.items() if one in closed}
    joined = {
        "active_patient_id": changed.active_patient_id or whole.active_patient_id,
        "patient_registry": {**rows, **changed.patient_registry},
        "settled": {**settled, **changed.settled},
    }
    return changed.model_copy(update=joined)


def with_settled(registry: Registry, said: str, patient_id: PatientId) -> Registry:
    """Return a copy of `registry` that remembers whom the user means by `said`."""
    settled = {**registry.settled, said.casefold(): patient_id}
    return registry.model_copy(update={"settled": dict([*settled.items()][-SETTLED_LIMIT:])})


def last_seen(registry: Registry, user: str) -> PatientId | None:
    """Return beside whose chart `user` last wrote; None before their first message."""
    return registry.seen_by.get(hashed(user))


def as_noted(verdict: PatientVerdict, turn: PatientTurn, *, is_answer: bool) -> PatientVerdict:
    """Return the verdict with what the registry notes besides the patient who is open.

    Beside whose chart the user writes; and once it is clear whom a message is about, no more that
    two charts were side by side.
    """
    registry, active = verdict.registry, verdict.patient_id
    if verdict.decision in ("NEEDS_PATIENT_ID", "CLEAR"):
        return verdict
    if turn.registry.compared and (
        is_answer or turn.reading.named or not turn.reading.is_of_no_patient
    ):
        registry = (registry or turn.registry).model_copy(update={"compared": []})
    after = registry or turn.registry
    is_changed = registry is not None or bool(after.seen_by)
    if active is not None and is_changed and last_seen(after, turn.user) != active:
        seen = {**after.seen_by, hashed(turn.user): active}
        registry = after.model_copy(update={"seen_by": dict([*seen.items()][-SEEN_LIMIT:])})
    return verdict if registry is verdict.registry else replace(verdict, registry=registry)
