"""Makes room in a context document; nothing leaves it that is not archived first."""

from data_models.chat_context import ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from services.memory_blocks.limits import bound
from services.memory_blocks.rotation import RotationRules, rotate
from services.records.answers.as_said import left_told


async def make_room(
    contexts: ChatContextAccessor, context: ChatContext, *, rules: RotationRules | None = None
) -> None:
    """Bring `context` within its limits; the caller stores it.

    The oldest turns move out and what is too large is shortened: archived first and removed
    after, so that a crash between leaves turns in both places, and a reader takes each id once.
    """
    rotation = rotate(context.chat_history, rules=rules)
    for whole in rotation.whole:
        await contexts.archive(context, [whole])
    if rotation.archived:
        await contexts.archive(context, rotation.archived)
        leaving = {one.turn_id for one in (*context.told, *rotation.archived)}
        context.told = left_told(context.heard, leaving)
        context.memory.last_archival = context.chat_history[-1].timestamp
        for entry in context.memory.flow:
            if entry.turn_id < rotation.kept[0].turn_id:
                entry.routed = entry.answered = ""
    context.chat_history = list(rotation.kept)
    bound(context.memory)


async def make_storable(
    contexts: ChatContextAccessor,
    context: ChatContext,
    running: Turn,
    *,
    rules: RotationRules | None = None,
) -> ChatContext:
    """Return `context` as it may be stored while `running` goes on.

    What has left has left, but the running turn stays whole in `context`: it is stored as head
    and tail if it must be, and its whole text is archived anew when it ends.
    """
    stored = context.model_copy()
    await make_room(contexts, stored, rules=rules)
    kept = [running if one.turn_id == running.turn_id else one for one in stored.chat_history]
    context.chat_history, context.told = kept, stored.told
    return stored
