"""The offline rules as a chat service of Semantic Kernel."""

from collections.abc import AsyncGenerator
from typing import Any

import orjson
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    StreamingChatMessageContent,
    StreamingTextContent,
)

from group_chat.models.tool_calling import CallSettings, ToolCallingModel
from group_chat.offline.facilitator import answer_as_facilitator
from group_chat.offline.prompt import OfflineReply, Prompt, prompt_of
from group_chat.offline.specialist import answer_as_specialist, request_in, run
from group_chat.speakers.judge import NAMES_FOLLOW
from group_chat.turn_context import current_turn
from services.language.charts.answer_words import answer_words
from services.language.requests.tool_requests import RECALL, ToolRequest
from services.language.words.folding import words_of
from services.language.words.phrases import says, without
from services.records.answers.as_said import held_about, letter_in, told_before


class OfflineChatCompletion(ToolCallingModel):
    """Answers from tool results and from what was said, by rules; the same prompt, the same words.

    It goes through the same kernel, tools and streams as a language model, so that everything
    works without one.
    """

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
        offers = isinstance(settings, CallSettings) and settings.tools
        reply = reply_to(prompt_of(current_turn(), chat_history, offers or ()))
        calls = [
            FunctionCallContent(
                id=f"call_{index}",
                index=index,
                name=call.wire_name,
                arguments=orjson.dumps(call.arguments).decode(),
            )
            for index, call in enumerate(reply.calls)
        ]
        # Two pieces: what stands beside calls in one piece is not shown.
        for items in ([StreamingTextContent(choice_index=0, text=reply.text)], calls):
            yield [
                StreamingChatMessageContent(
                    role=AuthorRole.ASSISTANT,
                    choice_index=0,
                    items=[*items],
                    ai_model_id=self.ai_model_id,
                    function_invoke_attempt=function_invoke_attempt,
                )
            ]


def _recalled(prompt: Prompt, recall: ToolRequest) -> OfflineReply:
    """Return what is held of what the user asks to be reminded of, or else was said before."""
    given = recall.given(prompt.asked) or {}
    told = ["; ".join(one.sentences) for one in told_before(prompt.heard)]
    own = () if prompt.identity is None else words_of(prompt.identity.name)
    named = [one for one in given.get("query", "").split() if not {*words_of(one)} <= {*own}]
    if not (held := held_about(" ".join(named), [*prompt.held, *told])):
        return run(prompt, recall)
    return _said_here(prompt, "; ".join(held))


def _said_here(prompt: Prompt, quotes: str) -> OfflineReply:
    return OfflineReply(text=answer_words(prompt.language).say("as_said", quotes=quotes))


def _of_letter(prompt: Prompt) -> OfflineReply | None:
    """Return a pasted letter where what stands in it is asked for, and nothing of the chart."""
    is_of_chart = prompt.utterance is None or bool(prompt.utterance.about)
    if prompt.said or is_of_chart or not says(prompt.asked, "asks_of_letter"):
        return None
    letter = letter_in(prompt.heard)
    return _said_here(prompt, letter) if letter else None


def reply_to(prompt: Prompt) -> OfflineReply:
    """Return the answer to one prompt; the first of a conversation says who speaks."""
    answer = answer_as_facilitator if prompt.is_facilitator else answer_as_specialist
    is_of_chart = prompt.utterance is not None and bool(prompt.utterance.about)
    recall = None if prompt.scenario or is_of_chart else request_in(prompt, (RECALL,))
    reply = _of_letter(prompt) or (answer(prompt) if recall is None else _recalled(prompt, recall))
    is_of_danger = not prompt.said and says(without(prompt.asked, "place_of_death"), "danger")
    before = [prompt.text("danger_first")] if is_of_danger else []
    before += [] if prompt.said or prompt.earlier else [prompt.text("not_a_model")]
    text = "\n\n".join([*before, reply.text]) if reply.text else ""
    return OfflineReply(text=text, calls=reply.calls)
