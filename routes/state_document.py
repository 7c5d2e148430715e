"""The shared state as JSON, the way every transport shows it."""

from typing import Any

from data_models.turn_events import SharedState


def state_document(state: SharedState) -> dict[str, Any]:
    """Return `state` as plain JSON values."""
    return {
        "conversation_id": state.conversation_id,
        "patient_id": state.patient_id,
        "all_patient_ids": list(state.all_patient_ids),
        "patient_count": state.patient_count,
        "patient": None if state.patient is None else state.patient._asdict(),
        "decision": state.decision,
        "plan": state.plan.model_dump(mode="json") if state.plan else None,
        "question": dict(state.question) if state.question else None,
        "undo": dict(state.undo) if state.undo else None,
        "artifacts": [artifact.model_dump(mode="json") for artifact in state.artifacts],
        "scenario": state.scenario.model_dump(mode="json", exclude={"keys"})
        if state.scenario
        else None,
        "model_kind": state.model_kind,
        "facilitator": state.facilitator,
        "timing": state.timing.model_dump(),
    }
