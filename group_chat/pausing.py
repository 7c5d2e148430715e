"""A plan lets a waiting message through between its steps, and goes on behind its answer."""

from dataclasses import replace
from datetime import datetime

from group_chat.gate import is_running
from group_chat.selection import answered, to_facilitator
from group_chat.speaker_state import Announce, Move, SpeakerState, Work
from services.group_chat_port import GroupChatRequest
from services.language.own_texts import ends_with_own

PAUSED = (
    "The plan is paused for your message. It goes on after the answer; if you switch or stop, "
    "say “continue” to go on with it."
)


def is_interruption(request: GroupChatRequest) -> bool:
    """Tell whether the message came in while the plan ran that was paused for it."""
    last = request.history[-1].agent_responses[-1:] if request.history else []
    is_paused = is_running(request.plan) and bool(last) and ends_with_own(last[0].text, PAUSED)
    came = request.received_at
    return is_paused and came is not None and came <= last[0].timestamp


def calls_step(move: Move) -> bool:
    """Tell whether `move` puts a step of the plan into work."""
    return isinstance(move, Work) or (isinstance(move, Announce) and move.step is not None)


def back_to_plan(
    speakers: SpeakerState, move: Move, *, now: datetime
) -> tuple[SpeakerState, Move] | None:
    """Return how the plan goes on where `move` ends the answer beside it; else None."""
    if not speakers.waits_beside or move != answered(speakers):
        return None
    return to_facilitator(replace(speakers, is_on_plan=True), now=now)
