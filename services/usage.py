"""Counts what a turn spends on models; each turn has its own meter in its own context."""

from contextvars import ContextVar, Token
from dataclasses import dataclass


@dataclass(slots=True)
class ModelUsage:
    """Running totals of one turn.

    Attributes:
        prompt_chars: Characters of text sent, over all calls.
        first_token_at: Monotonic seconds of the first visible text, None before it.
    """

    calls: int = 0
    prompt_chars: int = 0
    first_token_at: float | None = None


_CURRENT: ContextVar[ModelUsage | None] = ContextVar("model_usage", default=None)


def begin_usage() -> tuple[ModelUsage, Token[ModelUsage | None]]:
    """Start a meter for this task and its children; `end_usage` takes the token."""
    usage = ModelUsage()
    return usage, _CURRENT.set(usage)


def end_usage(token: Token[ModelUsage | None]) -> None:
    """Put the meter away."""
    _CURRENT.reset(token)


def note_model_call(*, prompt_chars: int) -> None:
    """Count one model call; outside a turn nothing is counted."""
    usage = _CURRENT.get()
    if usage is not None:
        usage.calls += 1
        usage.prompt_chars += prompt_chars
