"""Measures one turn (time, storage, model calls) and reports how it ended."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

import structlog

from data_models.counting_blob_store import StorageCounts, storage_counter
from data_models.errors import ModelRefusedError, RoundsError
from data_models.identifiers import hashed
from data_models.turn_events import TurnTiming
from services.telemetry.metrics import Metrics
from services.turn.draft import TurnDraft
from services.usage import ModelUsage, begin_usage, end_usage

logger = structlog.get_logger()


class TurnMeter:
    """Counts within its `with` block, and in every task started there."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._storage = StorageCounts()
        self._usage = ModelUsage()

    def __enter__(self) -> Self:
        """Start counting."""
        self._storage = self._stack.enter_context(storage_counter())
        self._usage, token = begin_usage()
        self._stack.callback(end_usage, token)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop counting."""
        self._stack.close()

    def timing(self, turn: TurnDraft, *, now: float) -> TurnTiming:
        """Return the figures up to `now` (monotonic seconds)."""
        first = turn.first_text_at
        return TurnTiming(
            total_ms=(now - turn.started) * 1000,
            analyzer_ms=turn.timing.analyzer_ms,
            storage_fallback_ms=turn.timing.storage_fallback_ms,
            service_total_ms=turn.timing.service_total_ms,
            storage_ms=self._storage.waited_seconds * 1000,
            first_token_ms=None if first is None else (first - turn.started) * 1000,
            llm_calls=self._usage.calls,
            llm_prompt_chars=self._usage.prompt_chars,
            llm_prompt_tokens=self._usage.tokens.prompt,
            llm_cached_tokens=self._usage.tokens.cached,
            llm_answer_tokens=self._usage.tokens.answer,
            llm_dollars=round(self._usage.tokens.dollars, 6),
            storage_ops=self._storage.total,
        )

    def report(
        self, metrics: Metrics, turn: TurnDraft, failure: RoundsError | None, timing: TurnTiming
    ) -> None:
        """Add the turn's figures to the process's, and log its one line."""
        first = timing.first_token_ms
        if failure is not None:
            metrics.count_failure(failure)
        metrics.turn_ended(
            turn.outcome if failure is None else "failed",
            seconds=timing.total_ms / 1000,
            first_text_seconds=None if first is None else first / 1000,
        )
        said = turn.answers[turn.kept_answers :]  # those of a dead replica were counted there
        for message in said:
            metrics.statements_checked(message.agent, message.statements)
        agent = said[-1].agent if said else ""
        if isinstance(failure, ModelRefusedError):
            metrics.user_got("refused", agent=agent)
        elif failure is None:
            metrics.user_got("answered" if turn.question is None else "asked", agent=agent)
        logger.info(
            "turn_finished",
            run_id=turn.run.run_id,
            conversation=hashed(turn.conversation_id),
            decision=turn.decision,
            outcome=turn.outcome if failure is None else failure.code,
            total_ms=round(timing.total_ms, 1),
            llm_calls=timing.llm_calls,
            llm_prompt_tokens=timing.llm_prompt_tokens,
            llm_cached_tokens=timing.llm_cached_tokens,
            storage_ops=timing.storage_ops,
        )
