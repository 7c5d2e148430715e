"""What the user may want to say next. Pure; every suggestion is understood without a model."""

from data_models.turn_events import SharedState

LIMIT = 3


def next_steps(state: SharedState, *, patient_id_example: str) -> tuple[str, ...]:
    """Return at most three short messages, none where the user is asked something else."""
    others = [one for one in state.all_patient_ids if one != state.patient_id]
    if state.question is not None:
        asks_who = state.question["kind"] == "which_patient"
        return state.all_patient_ids[:LIMIT] if asks_who else ()
    if state.plan is not None and state.plan.is_open:
        # A proposed plan has buttons, and a running one goes on by itself.
        return ()
    if state.patient_id is None and not others:
        return (f"start tumor board for {patient_id_example}",)
    own = () if state.patient_id is None or state.plan else (_board(state.patient_id),)
    switches = tuple(f"switch to {one}" for one in others)
    return (*own, *switches[: LIMIT - 1], "which patients have we discussed?")[:LIMIT]


def _board(patient_id: str) -> str:
    return f"start tumor board for {patient_id}"
