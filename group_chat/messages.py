"""The messages of a prompt: what an agent is shown beside the talk, marked as data. Pure."""

from semantic_kernel.contents import (
    AuthorRole,
    ChatMessageContent,
    StreamingChatMessageContent,
    TextContent,
)

from group_chat.models.dialect import CUE
from group_chat.window import meaning_line, summary_line
from services.group_chat_port import GroupChatRequest
from services.patient_context.snapshot import neutralise


def text_message(role: AuthorRole, text: str, name: str | None = None) -> ChatMessageContent:
    """Return one message of plain text."""
    return ChatMessageContent(role=role, items=[TextContent(text=text)], name=name)


def cue_message(text: str) -> ChatMessageContent:
    """Return what the server says last, marked so that a model's dialect may move it."""
    message = text_message(AuthorRole.SYSTEM, text)
    message.metadata |= CUE
    return message


def piece_of(agent: str, text: str) -> StreamingChatMessageContent:
    """Return a piece of what `agent` says, as it comes."""
    return StreamingChatMessageContent(
        role=AuthorRole.ASSISTANT, choice_index=0, content=text, name=agent
    )


def background(request: GroupChatRequest) -> list[ChatMessageContent]:
    """Return what is left of the turns that the window leaves out (page 4.3), and what is known."""
    papers = "" if request.papers is None else request.papers.line
    return _as_data(summary_line(request.meaning.summary), request.grounding, papers)


def beside_the_talk(
    request: GroupChatRequest, agent: str, *, in_plan: bool
) -> list[ChatMessageContent]:
    """Return how the user's words are understood, and what `agent` may see as it is now.

    That is marked as no more than an understanding, and of no use to who carries out a step of a
    plan or closes it; entities and the scenario's step follow.
    """
    entities, scenario = request.entities, request.scenario
    return _as_data(
        "" if in_plan else meaning_line(request.meaning.interpretation),
        "" if entities is None else entities.grounding(agent),
        scenario.grounding if scenario is not None and scenario.lead == agent else "",
    )


def _as_data(*texts: str) -> list[ChatMessageContent]:
    return [text_message(AuthorRole.SYSTEM, neutralise(text)) for text in texts if text]
