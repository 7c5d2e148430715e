"""When a turn ends (spec page 1.7), as values."""

from group_chat.speaker_state import End, Move, SpeakerState

CONTINUE_OFFER = (
    'That is as far as one turn may go, so the team stopped here. Write "continue" to go on.'
)


def within_limits(move: Move, speakers: SpeakerState, *, messages: int) -> Move:
    """Return `move`, or the end of the turn once `messages` agent messages were said."""
    over = speakers.messages >= messages and not isinstance(move, End)
    return End("limit") if over else move


def is_over(move: Move) -> bool:
    """Return whether nobody speaks next.

    A hand-back or a snapshot as the newest message never ends a turn: a hand-back is a move,
    and a snapshot is no message of an agent, so no move is ever taken from it.
    """
    return isinstance(move, End)
