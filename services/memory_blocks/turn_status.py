"""The course of a turn: PENDING, IN_PROGRESS, then one of three ends, and never back."""

from collections.abc import Mapping

from data_models.chat_context import Turn, TurnStatus

NEXT: Mapping[TurnStatus, frozenset[TurnStatus]] = {
    "PENDING": frozenset({"IN_PROGRESS"}),
    "IN_PROGRESS": frozenset({"COMPLETED", "FAILED", "STOPPED"}),
    "COMPLETED": frozenset(),
    "FAILED": frozenset(),
    "STOPPED": frozenset(),
}


def is_open(turn: Turn) -> bool:
    """Whether `turn` has not ended."""
    return bool(NEXT[turn.turn_status])


def advance(turn: Turn, to: TurnStatus, *, error_code: str | None = None) -> bool:
    """Move `turn` on to `to`, through IN_PROGRESS; False if it has ended and stays as it is."""
    if turn.turn_status == "PENDING":
        turn.turn_status = "IN_PROGRESS"
    if to not in NEXT[turn.turn_status]:
        return to == turn.turn_status
    turn.turn_status, turn.error_code = to, error_code
    return True
