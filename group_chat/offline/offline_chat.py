"""The offline rules as a chat service of Semantic Kernel."""

from collections.abc import AsyncGenerator, Callable
from typing import Any, ClassVar

import orjson
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_call_choice_configuration import (
    FunctionCallChoiceConfiguration,
)
from semantic_kernel.connectors.ai.function_calling_utils import (
    update_settings_from_function_call_configuration,
)
from semantic_kernel.connectors.ai.function_choice_type import FunctionChoiceType
from semantic_kernel.connectors.ai.open_ai import OpenAIChatPromptExecutionSettings
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    StreamingChatMessageContent,
    StreamingTextContent,
)

from group_chat.judge import NAMES_FOLLOW
from group_chat.offline.facilitator import answer_as_facilitator
from group_chat.offline.prompt import OfflineReply, Prompt, prompt_of
from group_chat.offline.specialist import answer_as_specialist
from group_chat.turn_context import current_turn
from services.language.held_statements import held_statements
from services.language.phrases import says
from services.records.answers.as_said import held_of_same


class OfflineChatCompletion(ChatCompletionClientBase):
    """Answers from tool results and from what was said, by rules; the same prompt, the same words.

    It goes through the same kernel, tools and streams as a language model, so that everything
    works without one.
    """

    SUPPORTS_FUNCTION_CALLING: ClassVar[bool] = True

    def get_prompt_execution_settings_class(self) -> type[PromptExecutionSettings]:
        """Return the class that carries the offered tools."""
        return OpenAIChatPromptExecutionSettings

    async def _inner_get_chat_message_contents(
        self, chat_history: ChatHistory, settings: PromptExecutionSettings
    ) -> list[ChatMessageContent]:
        # Only who of several speaks is asked so: the first of the names.
        name = chat_history.messages[0].content.partition(NAMES_FOLLOW)[2].partition(",")[0]
        role = AuthorRole.ASSISTANT
        return [ChatMessageContent(role=role, content=name, ai_model_id=self.ai_model_id)]

    async def _inner_get_streaming_chat_message_contents(
        self,
        chat_history: ChatHistory,
        settings: PromptExecutionSettings,
        function_invoke_attempt: int = 0,
    ) -> AsyncGenerator[list[StreamingChatMessageContent], Any]:
        offers = isinstance(settings, OpenAIChatPromptExecutionSettings) and settings.tools
        reply = reply_to(prompt_of(current_turn(), chat_history, offers or ()))
        lines: list[list[Any]] = [
            [StreamingTextContent(choice_index=0, text=line)]
            for line in reply.text.splitlines(keepends=True)
        ]
        for items in [*lines, _calls(reply)]:
            yield [
                StreamingChatMessageContent(
                    role=AuthorRole.ASSISTANT,
                    choice_index=0,
                    items=items,
                    ai_model_id=self.ai_model_id,
                    function_invoke_attempt=function_invoke_attempt,
                )
            ]

    def _update_function_choice_settings_callback(
        self,
    ) -> Callable[
        [FunctionCallChoiceConfiguration, PromptExecutionSettings, FunctionChoiceType], None
    ]:
        return update_settings_from_function_call_configuration

    def _reset_function_choice_settings(self, settings: PromptExecutionSettings) -> None:
        if isinstance(settings, OpenAIChatPromptExecutionSettings):
            settings.tool_choice = None
            settings.tools = None


def reply_to(prompt: Prompt) -> OfflineReply:
    """Return the answer to one prompt; the first of a conversation says who speaks."""
    answer = answer_as_facilitator if prompt.is_facilitator else answer_as_specialist
    reply = _noted(prompt) or answer(prompt)
    is_of_danger = not prompt.said and says(prompt.asked, "danger")
    before = [prompt.text("danger_first")] if is_of_danger else []
    before += [] if prompt.said or prompt.earlier else [prompt.text("not_a_model")]
    text = "\n\n".join([*before, reply.text]) if reply.text else ""
    return OfflineReply(text=text, calls=reply.calls)


def _noted(prompt: Prompt) -> OfflineReply | None:
    """Return that a statement is noted, where the message makes one and asks nothing."""
    is_turn = prompt.cue in ("none", "waiting") and not prompt.said
    if not is_turn or "?" in prompt.asked or prompt.patient_id is None:
        return None
    if prompt.is_facilitator and prompt.scenario:
        return None  # the guide of a scenario hears answers to its step first
    stated = [one.quote for one in held_statements(prompt.asked) if not one.only_if_held]
    if stated:
        return prompt.say("noted", quotes=" ".join(dict.fromkeys(stated)))
    is_told = prompt.utterance is not None and prompt.utterance.task == "tell"
    if not is_told or _answers_question(prompt):
        return None
    told = " ".join(prompt.asked.split())
    held = "; ".join(held_of_same(told, prompt.held))
    rest = f" {prompt.text('still_held', held=held)}" if held else ""
    return OfflineReply(text=f"{prompt.text('not_held', told=told)}{rest}")


def _answers_question(prompt: Prompt) -> bool:
    """Whether a specialist asked something just before: what is told then answers it."""
    if not prompt.earlier or prompt.cue == "waiting":
        return False
    last = prompt.earlier[-1]
    is_leads_own = prompt.is_facilitator and last.agent == prompt.agent
    return last.text.rstrip().endswith("?") and not is_leads_own


def _calls(reply: OfflineReply) -> list[Any]:
    return [
        FunctionCallContent(
            id=f"call_{index}",
            index=index,
            name=call.wire_name,
            arguments=orjson.dumps(call.arguments).decode(),
        )
        for index, call in enumerate(reply.calls)
    ]
