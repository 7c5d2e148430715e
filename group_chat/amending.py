"""What a message still needs when its model has stopped: a look into the record, or a repair."""

from collections.abc import AsyncIterator, Callable

from semantic_kernel.agents import ChatHistoryAgentThread
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import ChatHistory, ChatMessageContent

from group_chat.agents import TeamAgent
from group_chat.draft import Draft
from group_chat.repair import repaired

Prompt = Callable[[], list[ChatMessageContent]]


async def amended(agent: TeamAgent, draft: Draft, *, prompt: Prompt) -> AsyncIterator[str]:
    """Yield what is added to `draft`, at most one look and one repair.

    Raises:
        ModelError: the agent was to look and could not be asked.
    """
    yield draft.settle()
    if draft.must_look and agent.looks is not None:
        draft.look_again()
        thread = ChatHistoryAgentThread(ChatHistory(messages=prompt()))
        # The first call is for the tool; what it returned stands in the thread for the second.
        for speaker in (agent.looks, agent):
            said = ""
            async for item in speaker.invoke_stream(thread=thread):
                said += item.message.content or ""
                yield draft.write(item.message.content or "")
            if said.strip():
                break
        yield draft.settle()
    service = agent.service
    if draft.withheld and agent.repairs and isinstance(service, ChatCompletionClientBase):
        text = await repaired(service, draft.withheld)
        if text:
            yield draft.repair(text)
