"""What model calls take: tokens as their server counts them, and money. Pure but for its sum."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

CHARS_OF_A_TOKEN = 4
PRICES: Mapping[str, tuple[float, float, float]] = {
    "gpt-4.1": (2.0, 0.5, 8.0),
    "gpt-4.1-mini": (0.4, 0.1, 1.6),
    "gpt-4.1-nano": (0.1, 0.025, 0.4),
    "gpt-4o": (2.5, 1.25, 10.0),
    "gpt-4o-mini": (0.15, 0.075, 0.6),
}
"""US dollars for a million tokens: prompt, cached prompt, answer; list prices, to be checked."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; `is_estimated` where the server told none."""

    prompt: int = 0
    cached: int = 0
    answer: int = 0
    is_estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            answer=self.answer + other.answer,
            is_estimated=self.is_estimated or other.is_estimated,
        )


class Spending:
    """The budget of a run and what was taken from it."""

    def __init__(
        self,
        *,
        prices: tuple[float, float, float] | None,
        most_money: float | None = None,
        most_tokens: int | None = None,
    ) -> None:
        self.used = Usage()
        self.calls = 0
        self._prices = prices
        self._most_money = most_money
        self._most_tokens = most_tokens

    def add(self, usage: Usage) -> None:
        """Count one call."""
        self.used += usage
        self.calls += 1

    def cost(self, usage: Usage) -> float | None:
        """Return US dollars; None where no price is known."""
        if self._prices is None:
            return None
        whole, cached, answer = self._prices
        fresh = usage.prompt - usage.cached
        return (fresh * whole + usage.cached * cached + usage.answer * answer) / 1_000_000

    @property
    def is_over(self) -> bool:
        """Whether no more may be asked."""
        tokens = self.used.prompt + self.used.answer
        money = self.cost(self.used)
        over_money = self._most_money is not None and (money or 0.0) >= self._most_money
        return over_money or (self._most_tokens is not None and tokens >= self._most_tokens)


def usage_of(body: Mapping[str, Any], answer: str) -> Usage:
    """Return what an answer, streamed or whole, says that it took; else an estimate."""
    found = _told(answer)
    if found is not None and found.get("prompt_tokens", 0) > 1:
        details = found.get("prompt_tokens_details") or {}
        return Usage(
            prompt=int(found.get("prompt_tokens", 0)),
            cached=int(details.get("cached_tokens") or 0),
            answer=int(found.get("completion_tokens", 0)),
        )
    asked = len(orjson.dumps({key: body[key] for key in ("messages", "tools") if key in body}))
    return Usage(
        prompt=asked // CHARS_OF_A_TOKEN,
        answer=len(said_in(answer)) // CHARS_OF_A_TOKEN,
        is_estimated=True,
    )


def _told(answer: str) -> dict[str, Any] | None:
    for row in reversed(parts_of(answer)):
        if isinstance(row.get("usage"), dict):
            return dict(row["usage"])
    return None


def parts_of(answer: str) -> list[dict[str, Any]]:
    """Return the JSON objects of an answer: one, or one of each event of a stream."""
    lines = [answer] if answer.lstrip().startswith("{") else answer.splitlines()
    texts = [line.removeprefix("data: ") for line in lines]
    found: list[dict[str, Any]] = []
    for text in texts:
        if text.startswith("{"):
            try:
                found.append(orjson.loads(text))
            except orjson.JSONDecodeError:
                continue
    return found


def said_in(answer: str) -> str:
    """Return what a model said and called in an answer, streamed or whole."""
    pieces: list[str] = []
    for part in parts_of(answer):
        for choice in part.get("choices", ()):
            said = choice.get("delta") or choice.get("message") or {}
            pieces.append(str(said.get("content") or ""))
            for call in said.get("tool_calls") or ():
                function = call.get("function") or {}
                name = function.get("name")
                pieces.append(f"\n[{name}] " if name else "")
                pieces.append(str(function.get("arguments") or ""))
    return "".join(pieces)
