"""Makes room in a context document; nothing leaves it that is not archived first."""

from data_models.chat_context import ChatContext
from data_models.chat_context_accessor import ChatContextAccessor
from services.memory_blocks.rotation import rotate


async def make_room(contexts: ChatContextAccessor, context: ChatContext) -> None:
    """Move the oldest turns out and shorten what is too large; the caller stores `context`.

    Archived first and removed after: a crash between leaves turns in both places, and a reader
    takes each turn id once.
    """
    rotation = rotate(context.chat_history)
    for whole in rotation.whole:
        await contexts.archive(context, [whole])
    if rotation.archived:
        await contexts.archive(context, rotation.archived)
    context.chat_history = list(rotation.kept)
