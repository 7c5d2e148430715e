"""What is asked of a language model, said without naming a library, and what it costs a turn."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

Answer = TypeVar("Answer", bound=BaseModel)


class StructuredModel(Protocol):
    """Answers with an instance of a pydantic model, or raises."""

    async def ask(
        self, *, purpose: str, instructions: str, text: str, answer: type[Answer]
    ) -> Answer:
        """Return the model's answer to `text` under `instructions`.

        One repair attempt is made when the output does not validate, but none of a reading that
        rules can do as well. `purpose` is a constant name for metrics, such as `patient_context`.

        Raises:
            ModelError: unreachable, refused, too slow, or still not of the shape.
        """
        ...


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What a server counted of one call.

    Attributes:
        prompt: Tokens read; `cached` of them came from its cache.
        answer: Tokens written, thoughts included.
        dollars: What they cost by the operator's prices.
    """

    prompt: int = 0
    cached: int = 0
    answer: int = 0
    dollars: float = 0.0


@dataclass(slots=True)
class ModelUsage:
    """Running totals of one turn.

    Attributes:
        prompt_chars: Characters of text sent, over all calls.
        lost_seconds: Time spent on calls that failed.
        tokens: As servers counted them; nothing of servers that do not count.
    """

    calls: int = 0
    prompt_chars: int = 0
    lost_seconds: float = 0.0
    tokens: TokenUsage = TokenUsage()


_CURRENT: ContextVar[ModelUsage | None] = ContextVar("model_usage", default=None)


@contextmanager
def usage_counter() -> Iterator[ModelUsage]:
    """Count what is spent within this task, and in every task started by it."""
    usage = ModelUsage()
    token = _CURRENT.set(usage)
    try:
        yield usage
    finally:
        _CURRENT.reset(token)


def note_model_call(*, prompt_chars: int) -> None:
    """Count one model call; outside a turn nothing is counted."""
    if (usage := _CURRENT.get()) is not None:
        usage.calls += 1
        usage.prompt_chars += prompt_chars


def note_tokens(tokens: TokenUsage) -> None:
    """Add what a server counted of one call; outside a turn nothing is counted."""
    if (usage := _CURRENT.get()) is not None:
        one = usage.tokens
        usage.tokens = TokenUsage(
            prompt=one.prompt + tokens.prompt,
            cached=one.cached + tokens.cached,
            answer=one.answer + tokens.answer,
            dollars=one.dollars + tokens.dollars,
        )


def note_lost_seconds(seconds: float) -> None:
    """Count time spent on a call that failed; outside a turn nothing is counted."""
    if (usage := _CURRENT.get()) is not None:
        usage.lost_seconds += seconds


def lost_seconds() -> float:
    """Return what this turn has lost on failed calls so far; nothing outside a turn."""
    usage = _CURRENT.get()
    return usage.lost_seconds if usage is not None else 0.0
