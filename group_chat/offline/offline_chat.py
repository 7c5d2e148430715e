"""The offline rules as a chat service of Semantic Kernel."""

from collections.abc import AsyncGenerator
from typing import Any

from semantic_kernel import contents
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings

from group_chat.models.tool_calling import CallSettings, ToolCallingModel
from group_chat.offline.facilitator import answer_as_facilitator
from group_chat.offline.prompt import OfflineReply, Prompt, prompt_of
from group_chat.offline.specialist import answer_as_specialist, request_in, run
from group_chat.speakers.judge import NAMES_FOLLOW
from group_chat.tools.function import calls_of
from group_chat.turn_context import current_turn
from services.language.charts.answer_words import answer_words
from services.language.requests.tool_requests import RECALL
from services.language.words.folding import words_of
from services.language.words.phrases import says, without
from services.records.answers.as_said import held_about, letter_in, told_before


class OfflineChatCompletion(ToolCallingModel):
    """Answers from tool results and from what was said, by rules; the same prompt, the same words.

    It goes through the same kernel, tools and streams as a language model, so that everything
    works without one.
    """

    async def _inner_get_streaming_chat_message_contents(
        self,
        chat_history: contents.ChatHistory,
        settings: PromptExecutionSettings,
        function_invoke_attempt: int = 0,
    ) -> AsyncGenerator[list[contents.StreamingChatMessageContent], Any]:
        offers = isinstance(settings, CallSettings) and settings.tools
        # Asked who of several speaks, it names the first.
        _, among, names = chat_history.messages[0].content.partition(NAMES_FOLLOW)
        reply = (
            OfflineReply(text=names.partition(",")[0])
            if among
            else reply_to(prompt_of(current_turn(), chat_history, offers or ()))
        )
        text = contents.StreamingTextContent(choice_index=0, text=reply.text)
        # Two pieces: what stands beside calls in one piece is not shown.
        for items in ([text], calls_of(reply.calls, "call")):
            yield [
                contents.StreamingChatMessageContent(
                    role=contents.AuthorRole.ASSISTANT,
                    choice_index=0,
                    items=[*items],
                    ai_model_id=self.ai_model_id,
                    function_invoke_attempt=function_invoke_attempt,
                )
            ]


def _from_the_talk(prompt: Prompt) -> OfflineReply | None:
    """Return a pasted letter, or what was told, where that is asked for and nothing of the chart.

    What is held of what the user asks to be reminded of comes before what was said of it.
    """
    if prompt.read.about:
        return None
    asks_letter = not prompt.said and says(prompt.asked, "asks_of_letter")
    quotes = letter_in(prompt.heard) if asks_letter else ""
    recall = None if quotes or prompt.scenario else request_in(prompt, (RECALL,))
    if recall is not None:
        words = (recall.given(prompt.asked) or {}).get("query", "").split()
        told = ["; ".join(one.sentences) for one in told_before(prompt.heard)]
        own = () if prompt.identity is None else words_of(prompt.identity.name)
        named = [one for one in words if not {*words_of(one)} <= {*own}]
        quotes = "; ".join(held_about(" ".join(named), [*prompt.held, *told]))
    if quotes:
        return OfflineReply(text=answer_words(prompt.language).say("as_said", quotes=quotes))
    return None if recall is None else run(prompt, recall)


def reply_to(prompt: Prompt) -> OfflineReply:
    """Return the answer to one prompt; the first of a conversation says who speaks."""
    answer = answer_as_facilitator if prompt.is_facilitator else answer_as_specialist
    reply = _from_the_talk(prompt) or answer(prompt)
    is_of_danger = not prompt.said and says(without(prompt.asked, "place_of_death"), "danger")
    before = [prompt.text("danger_first")] if is_of_danger else []
    before += [] if prompt.said or prompt.earlier else [prompt.text("not_a_model")]
    text = "\n\n".join([*before, reply.text]) if reply.text else ""
    return OfflineReply(text=text, calls=reply.calls)
