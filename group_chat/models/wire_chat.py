"""Semantic Kernel's OpenAI service over our own calls."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from openai import AsyncOpenAI
from pydantic import PrivateAttr
from semantic_kernel.connectors.ai.open_ai import OpenAIChatPromptExecutionSettings
from semantic_kernel.connectors.ai.open_ai.services.open_ai_chat_completion_base import (
    OpenAIChatCompletionBase,
)
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FinishReason,
    FunctionCallContent,
    StreamingChatMessageContent,
    StreamingTextContent,
    TextContent,
)

from group_chat.models.answer import Answer
from group_chat.models.completions import Completions

_FINISH_REASONS = {reason.value: reason for reason in FinishReason}


class WireChatCompletion(OpenAIChatCompletionBase):
    """Streams one item per network read; a tool call comes whole, in the last item.

    The stock service builds some ten validated objects per token. Agents are streamed; what is
    asked for whole is the choice of who speaks. Raises `ModelError`s only.
    """

    _completions: Completions = PrivateAttr()

    @classmethod
    def over(
        cls, completions: Completions, *, client: AsyncOpenAI, model: str
    ) -> "WireChatCompletion":
        """Return a service that asks `model` through `completions`."""
        service = cls(ai_model_id=model, service_id="chat", client=client)
        service._completions = completions
        return service

    async def _inner_get_chat_message_contents(
        self, chat_history: ChatHistory, settings: PromptExecutionSettings
    ) -> list[ChatMessageContent]:
        answer = await self._completions.complete(
            self._body(chat_history, settings), purpose="selection"
        )
        items: list[Any] = [TextContent(text=answer.text)] if answer.text else []
        return [
            ChatMessageContent(
                role=AuthorRole.ASSISTANT,
                items=[*items, *_function_calls(answer)],
                ai_model_id=self.ai_model_id,
                finish_reason=_finish_reason(answer),
            )
        ]

    async def _inner_get_streaming_chat_message_contents(
        self,
        chat_history: ChatHistory,
        settings: PromptExecutionSettings,
        function_invoke_attempt: int = 0,
    ) -> AsyncGenerator[list[StreamingChatMessageContent], Any]:
        body = self._body(chat_history, settings)
        async with aclosing(self._completions.stream(body, purpose="agent")) as parts:
            async for part in parts:
                yield [self._item(part, function_invoke_attempt)]

    def _item(self, part: str | Answer, attempt: int) -> StreamingChatMessageContent:
        items = _function_calls(part) if isinstance(part, Answer) else _text_items(part)
        return StreamingChatMessageContent(
            role=AuthorRole.ASSISTANT,
            choice_index=0,
            items=items,
            ai_model_id=self.ai_model_id,
            finish_reason=_finish_reason(part) if isinstance(part, Answer) else None,
            function_invoke_attempt=attempt,
        )

    def _body(self, chat_history: ChatHistory, settings: PromptExecutionSettings) -> dict[str, Any]:
        if not isinstance(settings, OpenAIChatPromptExecutionSettings):
            settings = self.get_prompt_execution_settings_from_settings(settings)
        body = settings.prepare_settings_dict()
        if not body.get("tools"):
            body.pop("parallel_tool_calls", None)
        body.pop("stream_options", None)
        body["model"] = body.get("model") or self.ai_model_id
        body["messages"] = [message.to_dict() for message in chat_history.messages]
        return body


def _text_items(text: str) -> list[Any]:
    return [StreamingTextContent(choice_index=0, text=text)]


def _function_calls(answer: Answer) -> list[Any]:
    return [
        FunctionCallContent(
            id=call.call_id or f"call_{index}",
            index=index,
            name=call.name,
            arguments=call.arguments or "{}",
        )
        for index, call in enumerate(answer.tool_calls)
    ]


def _finish_reason(answer: Answer) -> FinishReason | None:
    return _FINISH_REASONS.get(answer.finish_reason or "")
