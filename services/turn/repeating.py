"""Whether a button may ask a finished question again: nothing may be done a second time."""

from services.turn.draft import TurnDraft


def note_repeatable(turn: TurnDraft) -> bool:
    """Note in the turn that is stored whether it may be asked again, and return it."""
    repeatable = is_repeatable(turn)
    if turn.turn is not None:
        turn.turn.is_repeatable = repeatable
    return repeatable


def is_repeatable(turn: TurnDraft) -> bool:
    """Whether the team answered a question about a patient, and nothing was changed or begun.

    Yes and no, buttons, wishes that were completed, steps of plans and scenarios, files that were
    made, and whatever tools began to change outside mean something only once.
    """
    row, running = turn.turn, turn.claim.conversation.running_turn
    if row is None or turn.patient_id is None or not turn.is_of_team:
        return False
    if turn.outcome != "success" or turn.question is not None or not row.agent_responses:
        return False
    if turn.wish or turn.claim.message.press is not None:
        return False
    if running is None or running.deeds or any(one.plan_id for one in row.agent_responses):
        return False
    if turn.document().scenario is not None:
        return False
    return all(one.run_id != turn.run.run_id for one in turn.document().artifacts)
