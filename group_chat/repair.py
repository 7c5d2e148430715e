"""Has a model say once more what the record contradicted, with what the record says."""

from collections.abc import Sequence

from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.contents import AuthorRole, ChatHistory, ChatMessageContent

from data_models.errors import ModelError
from group_chat.checked_output import CheckedPiece
from services.patient_context.snapshot import neutralise

LIMIT_SENTENCES = 12
_INSTRUCTIONS = (
    "You correct sentences of an answer about a patient. Each sentence below disagrees with the "
    "patient's record; what the record says stands under it. Write for each one short sentence "
    "that says only what the record says, in the language of the sentence, followed by the source "
    "ids in brackets. Leave out what the record does not answer. Write nothing else."
)


async def repaired(chat_model: ChatCompletionClientBase, withheld: Sequence[CheckedPiece]) -> str:
    """Return new sentences for those that were withheld; "" where the model gives none.

    One call. They are to be checked as any others.
    """
    # Without a source there is nothing to say instead: a deed that was not done.
    rows = [one for one in withheld if one.verdict.sources][:LIMIT_SENTENCES]
    if not rows:
        return ""
    history = ChatHistory(
        messages=[
            ChatMessageContent(role=AuthorRole.SYSTEM, content=_INSTRUCTIONS),
            ChatMessageContent(role=AuthorRole.USER, content=neutralise(_listed(rows))),
        ]
    )
    settings = chat_model.get_prompt_execution_settings_class()(service_id=chat_model.service_id)
    try:
        answers = await chat_model.get_chat_message_contents(history, settings)
    except ModelError:
        return ""  # what was withheld is listed with what the record says
    return answers[0].content.strip() if answers else ""


def _listed(rows: Sequence[CheckedPiece]) -> str:
    return "\n".join(
        f"{number}. {one.text.strip()}\n   The record says: {one.verdict.record_says}"
        + "".join(f" [{ref}]" for ref in one.verdict.sources[:2])
        for number, one in enumerate(rows, 1)
    )
