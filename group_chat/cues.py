"""The last line of a prompt that says why an agent speaks now: constants, no one's words."""

from group_chat.speaker_state import Cue

_STEP = (
    "It is your turn, {agent}. Carry out the step that was just called, using your tools. Return "
    "your findings, a line each: what, value, date, [source]; say what is missing or differs. "
    "Then end with this line: Back to you *{facilitator}*."
)
_OWN_STEP = "It is your turn, {agent}. Carry out the step that was just called."
_CLOSE = (
    "All steps of the plan are done. Close now, {agent}: what the agents found with its sources, "
    "where findings conflict, what is missing, what the board should discuss."
)
_FAILED = (
    "Every tool of the last step failed. Tell the user what is missing because of it, {agent}, "
    "and ask how to go on."
)
_WAITING = (
    "A plan is not finished. If the message changes it, {agent}, call propose_plan again; if it "
    "agrees to it or drops it, call confirm_plan or cancel_plan; if not, answer as ever."
)
_TURN = "It is your turn, {agent}. Answer what was just asked of you."


def cue_text(cue: Cue, *, agent: str, facilitator: str, first: bool) -> str | None:
    """Return the line that ends the prompt, or None where the user's message is the cue.

    Args:
        first: Nobody has answered the user's message yet.
    """
    if cue == "step" and agent == facilitator:
        return _OWN_STEP.format(agent=agent)
    template = {"step": _STEP, "close": _CLOSE, "failed": _FAILED, "waiting": _WAITING}.get(cue)
    if template is None:
        # Some servers take a closing message of an assistant as one to be continued.
        return None if first else _TURN.format(agent=agent)
    return template.format(agent=agent, facilitator=facilitator)
