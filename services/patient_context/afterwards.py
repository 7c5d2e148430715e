"""What a verdict notes besides its patient: who sees which chart, whom words may mean. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from data_models.identifiers import PatientId
from data_models.patient_context_models import Registry
from services.identity.names.person import Person
from services.patient_context.conclusion import PatientTurn
from services.patient_context.roster import last_seen, with_seen
from services.patient_context.verdict import PatientVerdict


def ids_of(people: Sequence[Person]) -> Sequence[PatientId]:
    """Return the ids by which their charts open."""
    return [one.patient_id for one in people if one.patient_id is not None]


def settled_after_comparing(
    verdict: PatientVerdict, turn: PatientTurn, *, is_answer: bool
) -> PatientVerdict:
    """Forget that two charts were side by side once it is clear whom a message is about."""
    if not turn.registry.compared or verdict.decision in ("NEEDS_PATIENT_ID", "CLEAR"):
        return verdict
    if not (is_answer or turn.reading.named) and turn.reading.is_of_no_patient:
        return verdict
    registry = verdict.registry or turn.registry
    return replace(verdict, registry=registry.model_copy(update={"compared": []}))


def with_sight(verdict: PatientVerdict, registry: Registry, user: str) -> PatientVerdict:
    """Note beside whose chart the user writes, where that is another than before."""
    active = verdict.patient_id
    if active is None or verdict.decision in ("NEEDS_PATIENT_ID", "CLEAR"):
        return verdict
    after = verdict.registry or registry
    if last_seen(after, user) == active or (verdict.registry is None and not after.seen_by):
        return verdict
    return replace(verdict, registry=with_seen(after, user, active))
