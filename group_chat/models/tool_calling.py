"""What is common to everything that answers agents through Semantic Kernel's loop of tools."""

from collections.abc import Callable
from typing import Any, ClassVar

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_calling_utils import (
    update_settings_from_function_call_configuration,
)
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings


class CallSettings(PromptExecutionSettings):
    """What an agent is asked with. A call changes its copy, and nothing inside of it."""

    temperature: float | None = None
    max_tokens: int | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | None = None
    parallel_tool_calls: bool | None = None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> "CallSettings":
        """Return what Semantic Kernel makes for each call, without copies of what stays."""
        return self.model_copy()


class ToolCallingModel(ChatCompletionClientBase):
    """A model that is offered tools in its settings."""

    SUPPORTS_FUNCTION_CALLING: ClassVar[bool] = True

    def get_prompt_execution_settings_class(self) -> type[PromptExecutionSettings]:
        """Return the class that carries the offered tools."""
        return CallSettings

    def _update_function_choice_settings_callback(self) -> Callable[..., None]:
        return update_settings_from_function_call_configuration

    def _reset_function_choice_settings(self, settings: PromptExecutionSettings) -> None:
        if isinstance(settings, CallSettings):
            settings.tool_choice = settings.tools = None
