"""What a message still needs when its model has stopped: a look into the record, or a repair."""

from collections.abc import AsyncIterator, Callable, Sequence

from semantic_kernel.contents import ChatHistory, ChatMessageContent

from data_models.errors import ModelError
from group_chat.agents import TeamAgent
from group_chat.drafts.checked_output import CheckedPiece
from group_chat.drafts.draft import Draft
from group_chat.messages import say_once
from services.language.model_output.model_text import ModelText
from services.patient_context.reading.snapshot import neutralise

# Has a model say once more what the record contradicted, with what the record says.

LIMIT_SENTENCES = 12
_INSTRUCTIONS = (
    "You correct sentences of an answer about a patient. Each sentence below disagrees with the "
    "patient's record; what the record says stands under it. Write for each one short sentence "
    "that says only what the record says, in the language of the sentence, followed by the source "
    "ids in brackets. Leave out what the record does not answer. Write nothing else."
)


async def repair(agent: TeamAgent, withheld: Sequence[CheckedPiece]) -> str:
    """Return new sentences for those that were withheld; "" where the model gives none.

    One call. They are to be checked as any others.
    """
    # Without a source there is nothing to say instead: a deed that was not done.
    if not (rows := [one for one in withheld if one.verdict.sources][:LIMIT_SENTENCES]):
        return ""
    try:
        said = await say_once(agent.model, _INSTRUCTIONS, neutralise(_listed(rows)))
    except ModelError:
        return ""  # what was withheld is listed with what the record says
    text = ModelText(tools=agent.tools)  # a call is none, and not shown
    return text.feed(said) + text.finish()


def _listed(rows: Sequence[CheckedPiece]) -> str:
    return "\n".join(
        f"{number}. {one.text.strip()}\n   The record says: {one.verdict.record_says}"
        + "".join(f" [{ref}]" for ref in one.verdict.sources[:2])
        for number, one in enumerate(rows, 1)
    )


Prompt = Callable[[], list[ChatMessageContent]]


async def amend(agent: TeamAgent, draft: Draft, *, prompt: Prompt) -> AsyncIterator[str]:
    """Yield what is added to `draft`, at most one look and one repair.

    Raises:
        ModelError: the agent was to look and could not be asked.
    """
    yield draft.settle()
    if draft.must_look and agent.looks is not None:
        draft.look_again()
        history = ChatHistory(messages=prompt())
        # The first call is for the tool; what it returned stands in the history for the second.
        for speaker in (agent.looks, agent):
            said = ""
            async for text in speaker.answer(history):
                said += text
                yield draft.write(text)
            if said.strip():
                break
        yield draft.settle()
    if draft.withheld and agent.repairs and (text := await repair(agent, draft.withheld)):
        yield draft.repair(text)
