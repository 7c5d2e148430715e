"""What a model and its server can do, as an operator set it or as they showed it."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from data_models.errors import ConfigurationError, ModelUnfitError

LEAST_WINDOW_TOKENS = 8_192
WINDOW_REMEDY = (
    "set a larger one at the model's server (Ollama: OLLAMA_CONTEXT_LENGTH=16384; llama.cpp: -c "
    "16384; vLLM: --max-model-len 16384), or name the true one in MODEL_CONTEXT_TOKENS"
)
LACKS = ("system_role", "tools", "forced_tools", "json_schema", "parallel_tools", "thoughts_open")
"""What some models do without, as MODEL_LACKS has it: a system message, tools (they are written
into the instructions then), a `tool_choice` other than `auto`, a schema for the answer,
`parallel_tool_calls`; and the beginning of a thought, which the template itself opens."""
_OUTPUT_SHARE = 4
_OUTPUT_TOKENS = 4_096
_MARGIN_SHARE = 0.05
_KNOWN_WINDOWS = (
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-5", 400_000),
    ("gpt-4-turbo", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for a million tokens."""

    prompt: float = 0.0
    cached: float = 0.0
    answer: float = 0.0

    def cost(self, *, prompt_tokens: int, cached_tokens: int, answer_tokens: int) -> float:
        """Return dollars; `cached_tokens` are part of `prompt_tokens`."""
        fresh = prompt_tokens - cached_tokens
        dear = fresh * self.prompt + answer_tokens * self.answer
        return (dear + cached_tokens * (self.cached or self.prompt)) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """One model on one server.

    Attributes:
        window_tokens: Prompt and answer together; None where nobody says.
        window_from: Who says so.
        output_tokens: The longest answer that is asked for.
        lacks: Names of `LACKS`, and of parameters that it refused while it was asked.
    """

    model: str = ""
    window_tokens: int | None = None
    window_from: str = "nobody says"
    output_tokens: int = _OUTPUT_TOKENS
    lacks: frozenset[str] = frozenset()
    prices: Prices = Prices()

    @property
    def answer_tokens(self) -> int:
        """The `max_tokens` of an agent's message."""
        if self.window_tokens is None:
            return self.output_tokens
        return min(self.output_tokens, self.window_tokens // _OUTPUT_SHARE)

    @property
    def prompt_tokens(self) -> int | None:
        """What a prompt may hold; None where the window is not known."""
        if self.window_tokens is None:
            return None
        return int(self.window_tokens * (1 - _MARGIN_SHARE)) - self.answer_tokens

    def with_window(self, tokens: int, source: str) -> "ModelProfile":
        """Return the profile with a window that `source` told."""
        return replace(self, window_tokens=tokens, window_from=source)

    def lacking(self, what: str) -> "ModelProfile":
        """Return the profile of a model that does without one thing more."""
        return replace(self, lacks=self.lacks | {what})

    def check(self) -> None:
        """Refuse a window in which no patient's talk has room.

        Raises:
            ModelUnfitError: it is below 8,192 tokens; the text says what to set.
        """
        if self.window_tokens is not None and self.window_tokens < LEAST_WINDOW_TOKENS:
            raise ModelUnfitError(
                f"the model's window of {self.window_tokens:,} tokens ({self.window_from}) is "
                f"below {LEAST_WINDOW_TOKENS:,}: {WINDOW_REMEDY}"
            )


def profile_of(
    *, window: int | None, output: int, lacks: Collection[str], prices: str
) -> ModelProfile:
    """Return what an operator set.

    Args:
        lacks: Names of `LACKS`.
        prices: Dollars for a million tokens: prompt, cached prompt, answer; "" for none.

    Raises:
        ConfigurationError: a name or a number is none; the text names the setting.
    """
    if unknown := sorted(set(lacks) - set(LACKS)):
        raise ConfigurationError(f"MODEL_LACKS has {unknown[0]!r}; known: {', '.join(LACKS)}")
    profile = ModelProfile(output_tokens=output, lacks=frozenset(lacks), prices=_prices(prices))
    return profile if window is None else profile.with_window(window, "MODEL_CONTEXT_TOKENS")


def _prices(text: str) -> Prices:
    if not text.strip():
        return Prices()
    try:
        prompt, cached, answer = (float(part) for part in text.split(","))
    except ValueError:
        raise ConfigurationError(
            "MODEL_PRICES must be three numbers: dollars for a million tokens of prompt, cached "
            "prompt and answer, such as 2.00, 0.50, 8.00"
        ) from None
    return Prices(prompt=prompt, cached=cached, answer=answer)


def known_window(model: str) -> int | None:
    """Return the window of a model that everybody has by the same name."""
    name = model.rpartition("/")[2].casefold()
    return next((tokens for known, tokens in _KNOWN_WINDOWS if name.startswith(known)), None)
