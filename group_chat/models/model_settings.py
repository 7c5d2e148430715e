"""What an operator decides about the language model."""

from dataclasses import dataclass, field
from typing import Literal

from group_chat.models.profile import ModelProfile, profile_of
from settings import Settings

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
