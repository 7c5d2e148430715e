"""How a turn's work ends: by itself or cut off, at what cost; may it be asked again?"""

import asyncio
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from data_models import errors
from data_models.conversations.claim import Change
from data_models.conversations.conversation import (
    AnsweredMessage,
    Conversation,
    Interruption,
    OpenQuestion,
)
from data_models.conversations.turn_events import TurnTiming
from data_models.identifiers import PatientId, hashed
from data_models.patient_context_models import TimingInfo
from data_models.storage.counting_blob_store import StorageCounts, storage_counter
from services.model_port import ModelUsage, usage_counter
from services.telemetry.metrics import Metrics
from services.turn import phases

logger = structlog.get_logger()


async def wait_for_end(
    turn: phases.ClaimedTurn, work: "asyncio.Task[None]", *, seconds: float
) -> errors.RoundsError | None:
    """Wait until `work` is over and return what failed, if anything did.

    It is cut off once its user or the server asks for a stop, and after `seconds`. What the user
    stopped has not failed: its outcome is `cancelled`.
    """
    stop: asyncio.Future[Any] = turn.run.stop_requested()
    await asyncio.wait({work, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    was_stopped = stop.done()
    stop.cancel()
    work.cancel()
    await asyncio.wait({work})
    if was_stopped and (work.cancelled() or work.exception() is not None):
        turn.record.end("cancelled")
        return errors.InterruptedTurnError() if stop.result() == "interrupted" else None
    if work.cancelled():
        return errors.ClaimLostError() if turn.claim.is_lost else errors.ModelTimeoutError()
    error = work.exception()
    if error is None or isinstance(error, errors.RoundsError):
        return error
    where = traceback.extract_tb(error.__traceback__)[-1]
    # Type and place only: the text of an unexpected error may quote the conversation.
    logger.error(
        "turn_broke",
        run_id=turn.run.run_id,
        error=type(error).__name__,
        where=f"{where.name}:{where.lineno}",
    )
    return errors.RoundsError()


def note_repeatable(turn: phases.ClaimedTurn) -> bool:
    """Note in the turn that is stored whether it may be asked again, and return it."""
    if not isinstance(turn, phases.GroundedTurn):
        return False
    turn.row.is_repeatable = is_repeatable(turn)
    return turn.row.is_repeatable


def is_repeatable(turn: phases.GroundedTurn) -> bool:
    """Whether the team answered a question about a patient, and nothing was changed or begun.

    Yes and no, buttons, requests that were completed, steps of plans and scenarios, files that were
    made, and whatever tools began to change outside mean something only once.
    """
    row, record, running = turn.row, turn.record, turn.claim.conversation.running_turn
    if turn.patient_id is None or not record.is_of_team:
        return False
    if record.outcome != "success" or record.question is not None or not row.agent_responses:
        return False
    if turn.verdict.pending or turn.message.press is not None:
        return False
    if running is None or running.deeds or any(one.plan_id for one in row.agent_responses):
        return False
    if turn.document.scenario is not None:
        return False
    return all(one.run_id != turn.run.run_id for one in turn.document.artifacts)


def stored_turn(
    answered: phases.AnsweredTurn, turn: phases.GroundedTurn | None, *, at: datetime
) -> phases.StoredTurn:
    """Return what the conversation document records of a turn that is written in `turn`."""
    claim = answered.turn.claim
    message = AnsweredMessage(
        message_hash=claim.message.message_hash,
        run_id=answered.turn.run.run_id,
        patient_id=None if turn is None else turn.patient_id,
        epoch=claim.epoch,
        turn_id=None if turn is None else turn.row.turn_id,
        answered_at=int(at.timestamp()),
    )
    return phases.StoredTurn(turn, message, _change_of(answered.turn, turn, at=at))


def _change_of(
    reached: phases.ClaimedTurn, turn: phases.GroundedTurn | None, *, at: datetime
) -> Change:
    record = reached.record
    asked = record.question
    if asked is not None and asked.asked_at is None:
        asked = asked.model_copy(update={"asked_at": at})
    was_asked = reached.question_of_sender() is not None and not reached.is_press_elsewhere

    def change(conversation: Conversation) -> None:
        begun = None if turn is None else _begun_in_vain(conversation, turn)
        if isinstance(reached, phases.LoadedTurn) or begun is not None:  # the user was told by then
            conversation.interruption = begun
        waiting = waiting_after(
            conversation.questions,
            user=reached.message.sender.principal_id,
            asked=asked,
            was_answered=was_asked,
            changed_chart=record.changed_chart,
            active=reached.opened_patient_id,
        )
        conversation.keep_questions(waiting)
        conversation.language = record.language or conversation.language

    return change


def _begun_in_vain(conversation: Conversation, turn: phases.GroundedTurn) -> Interruption | None:
    """Return what this turn began to change, if it did not end well: it may be asked again."""
    running = conversation.running_turn
    if running is None or not running.deeds or turn.row.turn_status == "COMPLETED":
        return None
    died = conversation.interrupted(running, kept_with=turn.patient_id)
    return died.model_copy(update={"was_told": True, "asked": ""})


@contextmanager
def metered() -> "Iterator[TurnMeter]":
    """Count what a turn costs within the block, and in every task started there."""
    with storage_counter() as storage, usage_counter() as usage:
        yield TurnMeter(storage, usage)


@dataclass(frozen=True, slots=True)
class TurnMeter:
    """What a turn costs, as far as it has come."""

    storage: StorageCounts
    usage: ModelUsage

    def timing(self, turn: phases.ClaimedTurn, *, now: float) -> TurnTiming:
        """Return the figures up to `now` (monotonic seconds)."""
        first = turn.record.first_text_at
        read = turn.timing if isinstance(turn, phases.UnderstoodTurn) else TimingInfo()
        return TurnTiming(
            total_ms=(now - turn.started) * 1000,
            analyzer_ms=read.analyzer_ms,
            storage_fallback_ms=read.storage_fallback_ms,
            service_total_ms=read.service_total_ms,
            storage_ms=self.storage.waited_seconds * 1000,
            first_token_ms=None if first is None else (first - turn.started) * 1000,
            llm_calls=self.usage.calls,
            llm_prompt_chars=self.usage.prompt_chars,
            llm_prompt_tokens=self.usage.tokens.prompt,
            llm_cached_tokens=self.usage.tokens.cached,
            llm_answer_tokens=self.usage.tokens.answer,
            llm_dollars=round(self.usage.tokens.dollars, 6),
            storage_ops=self.storage.total,
        )

    def report(self, metrics: Metrics, answered: phases.AnsweredTurn, timing: TurnTiming) -> None:
        """Add the turn's figures to the process's, and log its one line."""
        turn, failure, first = answered.turn, answered.failure, timing.first_token_ms
        if failure is not None:
            metrics.count_failure(failure)
        metrics.turn_ended(
            turn.record.outcome if failure is None else "failed",
            seconds=timing.total_ms / 1000,
            first_text_seconds=None if first is None else first / 1000,
        )
        kept = turn.kept if isinstance(turn, phases.GroundedTurn) else ()
        said = turn.record.answers[len(kept) :]  # those of a dead replica were counted there
        for message in said:
            metrics.statements_checked(message.agent, message.statements)
        agent = said[-1].agent if said else ""
        if isinstance(failure, errors.ModelRefusedError):
            metrics.user_got("refused", agent=agent)
        elif failure is None:
            metrics.user_got("answered" if turn.record.question is None else "asked", agent=agent)
        logger.info(
            "turn_finished",
            run_id=turn.run.run_id,
            conversation=hashed(turn.conversation_id),
            decision=turn.verdict.decision if isinstance(turn, phases.UnderstoodTurn) else None,
            outcome=turn.record.outcome if failure is None else failure.code,
            total_ms=round(timing.total_ms, 1),
            llm_calls=timing.llm_calls,
            llm_prompt_tokens=timing.llm_prompt_tokens,
            llm_cached_tokens=timing.llm_cached_tokens,
            storage_ops=timing.storage_ops,
        )


# What still waits for an answer once a turn has ended. Pure.


def has_ended_question(conversation: Conversation, user: str) -> bool:
    """Whether somebody else ended what this user was asked last, who does not know yet."""
    question = conversation.question_of(user)
    return question is not None and question.is_over


def waiting_after(
    questions: Iterable[OpenQuestion],
    *,
    user: str,
    asked: OpenQuestion | None,
    was_answered: bool,
    changed_chart: bool,
    active: PatientId | None,
) -> Iterator[OpenQuestion]:
    """Yield what waits after a turn of `user`, the newest last.

    A change of the chart, which all of a group see, ends everybody's; others learn of it.
    """
    for one in questions:
        is_withdrawn = changed_chart and not one.is_set_aside(active)
        if one.user != user:
            yield one.ended() if is_withdrawn else one
        elif not (is_withdrawn or was_answered or one.is_over or asked is not None):
            yield one
    if asked is not None:
        yield asked
