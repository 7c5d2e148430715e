"""What the user may want to say next. Pure; every suggestion is understood without a model."""

from data_models.turn_events import SharedState

LIMIT = 3
_CHANGES = {"NEW_BLANK", "SWITCH_EXISTING", "CLEAR"}


def next_steps(
    before: SharedState, after: SharedState, *, patient_id_example: str
) -> tuple[str, ...]:
    """Return at most three short messages.

    There are some where a piece of work ended: the patient changed, a plan is done, nobody knows
    who is meant. In the midst of a talk they would only be in the way.
    """
    if after.question is not None:
        asks_who = after.question["kind"] == "which_patient"
        return after.all_patient_ids[:LIMIT] if asks_who else ()
    if not _ended(before, after) or (after.plan is not None and after.plan.is_open):
        return ()
    others = [one for one in after.all_patient_ids if one != after.patient_id]
    patient = after.patient_id or ("" if others else patient_id_example)
    board = (f"start tumor board for {patient}",) if patient and after.plan is None else ()
    switches = tuple(f"switch to {one}" for one in others[: LIMIT - 1])
    roster = ("which patients have we discussed?",) if others else ()
    return (*board, *switches, *roster)[:LIMIT]


def _ended(before: SharedState, after: SharedState) -> bool:
    """Tell whether this turn ended something."""
    if after.decision in _CHANGES or before.patient_id != after.patient_id:
        return True
    ran = before.plan is not None and before.plan.is_open
    return ran and after.plan is not None and not after.plan.is_open
