"""A model behind Semantic Kernel's loop of tools, over our own calls."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, ClassVar, cast

from pydantic import PrivateAttr
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_calling_utils import (
    update_settings_from_function_call_configuration,
)
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    FunctionCallContent,
    StreamingChatMessageContent,
    StreamingTextContent,
)

from data_models.errors import ModelRequestError, ModelWindowError
from group_chat.models.answer import Answer, ToolCallParts
from group_chat.models.completions import Completions, request_chars
from group_chat.models.dialect import Talk, speakers, talk_of, with_written_tools
from group_chat.models.learned import fitted
from services.language.model_output.model_text import ModelText


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


_REFITS = 3
_PREFIX = "rounds-"
"""Models have seen names of tools with a plugin's before them, as Semantic Kernel writes them."""


class WireChatCompletion(ToolCallingModel):
    """Streams one item per network read; a tool call comes whole, in the last item.

    The stock service builds some ten validated objects per token. All is streamed. Raises
    `ModelError`s only.
    """

    _completions: Completions = PrivateAttr()

    @classmethod
    def over(cls, completions: Completions, *, model: str) -> "WireChatCompletion":
        """Return a service that asks `model` through `completions`."""
        service = cls(ai_model_id=model, service_id="chat")
        service._completions = completions
        return service

    async def _inner_get_streaming_chat_message_contents(
        self,
        chat_history: ChatHistory,
        settings: PromptExecutionSettings,
        function_invoke_attempt: int = 0,
    ) -> AsyncGenerator[list[StreamingChatMessageContent], Any]:
        talk, settings = talk_of(chat_history.messages), cast("CallSettings", settings)
        reader = ModelText(
            names=speakers(chat_history.messages),
            tools=frozenset(one["function"]["name"] for one in settings.tools or ()),
            begins_in_thought="thoughts_open" in self._completions.learned.profile.lacks,
        )
        async with aclosing(self._stream(talk, settings)) as parts:
            async for part in parts:
                if text := reader.finish() if isinstance(part, Answer) else reader.feed(part):
                    said = StreamingTextContent(choice_index=0, text=text)
                    yield [self._item([said], function_invoke_attempt)]
                if isinstance(part, Answer):
                    # A model may write calls as text, too.
                    written = [ToolCallParts("", one.name, one.arguments) for one in reader.calls]
                    calls = _function_calls([*part.tool_calls, *written], settings)
                    yield [self._item(calls, function_invoke_attempt)]

    async def _stream(
        self, talk: Talk, settings: CallSettings
    ) -> AsyncGenerator[str | Answer, None]:
        """Ask, with less of the talk where the window turns out to be smaller."""
        learned = self._completions.learned
        now = asyncio.get_running_loop().time()
        takes_tools = learned.takes_tools(now=now)
        for refits_left in range(_REFITS, -1, -1):
            body = self._body(talk, settings, takes_tools=takes_tools)
            try:
                async with aclosing(self._completions.stream(body, purpose="agent")) as parts:
                    async for part in parts:
                        yield part
            except ModelWindowError as error:
                if not refits_left:
                    raise
                learned.note_overflow(error.window_tokens, chars=request_chars(body))
            except ModelRequestError as error:
                if error.param != "tools" or "tools" not in body:
                    raise
                takes_tools = False
            else:
                # Only now is it known that the tools, and nothing else, were refused.
                learned.note_tools(were_taken=takes_tools, now=now)
                return

    def _item(self, items: list[Any], attempt: int) -> StreamingChatMessageContent:
        return StreamingChatMessageContent(
            role=AuthorRole.ASSISTANT,
            choice_index=0,
            items=items,
            ai_model_id=self.ai_model_id,
            function_invoke_attempt=attempt,
        )

    def _body(self, talk: Talk, settings: CallSettings, *, takes_tools: bool) -> dict[str, Any]:
        learned = self._completions.learned
        body = settings.model_copy(update={"tools": None}).prepare_settings_dict()
        body.pop("stream_options", None)
        tools = settings.tools or []
        if (limit := learned.limit_chars()) is not None:
            talk = fitted(talk, limit_chars=limit, tools=tools)
        if tools and takes_tools:
            body["tools"] = tools
        else:
            for name in ("tools", "tool_choice", "parallel_tool_calls"):
                body.pop(name, None)
            talk = with_written_tools(talk, tools) if tools else talk
        limits = {"max_tokens": body.pop("max_tokens", None) or learned.profile.answer_tokens}
        return {
            **body,
            **limits,
            "model": body.get("model") or self.ai_model_id,
            "messages": talk.rows(),
        }


def _function_calls(calls: Sequence[ToolCallParts], settings: CallSettings) -> list[Any]:
    if not settings.tools:
        return []  # a call where nothing can be called
    return [
        FunctionCallContent(
            id=call.call_id or f"call_{index}",
            index=index,
            name=call.name.removeprefix(_PREFIX),
            arguments=call.arguments or "{}",
        )
        for index, call in enumerate(calls)
    ]
