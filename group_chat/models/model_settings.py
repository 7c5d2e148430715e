"""What an operator decides about the language model, and what it and its server can do."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal

from data_models.errors import ConfigurationError, ModelUnfitError
from settings import Settings

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


Provider = Literal["azure", "openai", "offline"]
OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Bounds of one model call, its retries included.

    Attributes:
        idle_seconds: Longest silence: until the first byte, and between two.
        call_seconds: Longest call, waiting for a free slot, retries and their pauses included;
            what a turn lost on failed calls is taken off its next ones.
        least_seconds: What is left to a call in any case.
        connect_seconds: Longest wait for a connection.
        retries: Further attempts after one that failed before its first token.
        retry_after_seconds: A server that asks for a longer pause is not waited for.
        concurrent_calls: Calls running at the same time in this process.
        answer_chars: Text and tool arguments of one answer.
        answer_bytes: Bytes of one answer on the wire, which frames each token in some 200.
        tool_calls: Tool calls in one answer.
    """

    idle_seconds: float = 25.0
    call_seconds: float = 55.0
    least_seconds: float = 3.0
    connect_seconds: float = 5.0
    retries: int = 1
    retry_after_seconds: float = 20.0
    concurrent_calls: int = 64
    answer_chars: int = 250_000
    answer_bytes: int = 24_000_000
    tool_calls: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Where the model is and how it is asked.

    Attributes:
        url: `OPENAI_BASE_URL`, or the Azure endpoint; the only host that is ever called.
        model: Model name, or the Azure deployment's.
        small_model: Serves the classifier; the same as `model` where it is not given.
        reads_images: Whether `model` takes images.
        profile: What the operator says of the model; the rest is asked for or learned.
        api_key: Empty with Azure means the machine's own identity.
    """

    provider: Provider = "offline"
    url: str = OPENAI_URL
    model: str = ""
    small_model: str = ""
    reads_images: bool = False
    api_key: str = field(default="", repr=False)
    api_version: str = "2024-10-21"
    profile: ModelProfile = field(default_factory=ModelProfile)
    limits: CallLimits = field(default_factory=CallLimits)


def model_settings_of(settings: Settings) -> ModelSettings:
    """Return what the operator's settings say about the model."""
    limits = CallLimits(
        idle_seconds=settings.llm_silence_seconds,
        call_seconds=settings.llm_call_seconds,
        retries=settings.llm_retries,
        concurrent_calls=settings.llm_concurrency,
    )
    profile = profile_of(
        window=settings.model_context_tokens,
        output=settings.model_output_tokens,
        lacks=settings.model_lacks,
        prices=settings.model_prices,
    )
    is_azure = settings.model_provider == "azure"
    url = settings.azure_openai_endpoint if is_azure else settings.openai_base_url
    key = settings.azure_openai_api_key if is_azure else settings.openai_api_key
    smaller = [
        settings.patient_context_decider_model,
        settings.patient_context_decider_deployment_name,
    ]
    if is_azure:
        smaller.reverse()
    return ModelSettings(
        provider=settings.model_provider,
        url=url or OPENAI_URL,
        model=settings.model_name,
        small_model=smaller[0] or smaller[1] or "",
        reads_images=settings.model_reads_images,
        api_key=key.get_secret_value() if key else "",
        api_version=settings.azure_openai_api_version,
        profile=profile,
        limits=limits,
    )
