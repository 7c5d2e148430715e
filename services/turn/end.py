"""How a turn's work ends: by itself, or cut off by an error of ours; may it be asked again?"""

import asyncio
import traceback

import structlog

from data_models.errors import (
    ClaimLostError,
    InterruptedTurnError,
    ModelTimeoutError,
    RoundsError,
)
from services.turn.draft import TurnDraft

logger = structlog.get_logger()


async def wait_for_end(
    turn: TurnDraft, work: "asyncio.Task[None]", *, seconds: float
) -> RoundsError | None:
    """Wait until `work` is over and return what failed, if anything did.

    It is cut off once its user or the server asks for a stop, and after `seconds`. What the user
    stopped has not failed: its outcome is `cancelled`.
    """
    stop = asyncio.create_task(turn.run.stop_requested())
    await asyncio.wait({work, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    was_stopped = stop.done()
    stop.cancel()
    work.cancel()
    await asyncio.wait({work})
    if was_stopped and (work.cancelled() or work.exception() is not None):
        turn.outcome = "cancelled"
        return InterruptedTurnError() if stop.result() == "interrupted" else None
    if work.cancelled():
        return ClaimLostError() if turn.claim.is_lost else ModelTimeoutError()
    error = work.exception()
    if error is None or isinstance(error, RoundsError):
        return error
    where = traceback.extract_tb(error.__traceback__)[-1]
    # Type and place only: the text of an unexpected error may quote the conversation.
    logger.error(
        "turn_broke",
        run_id=turn.run.run_id,
        error=type(error).__name__,
        where=f"{where.name}:{where.lineno}",
    )
    return RoundsError()


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
