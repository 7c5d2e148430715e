"""What an agent may look up of earlier turns: the active patient's, and nobody else's."""

from data_models.chat_context import ChatContext, Turn
from data_models.chat_context_accessor import ChatContextAccessor
from services.memory_blocks.held import shown_history
from services.memory_blocks.recall import Recalled, search

SEARCHED_TURNS = 5_000
"""The newest so many are looked through; the user's own history view reaches all."""


class PatientPast:
    """Earlier turns of one patient; archives are read when first asked."""

    def __init__(self, *, contexts: ChatContextAccessor, context: ChatContext, run_id: str) -> None:
        self._contexts = contexts
        self._context = context
        self._run_id = run_id
        self._archived: list[Turn] | None = None

    async def recall(self, query: str, *, limit: int) -> Recalled:
        """Return up to `limit` remarks that hold the words of `query`, the best first.

        Raises:
            StoreError: an archive could not be read.
        """
        here = [turn for turn in self._context.chat_history if turn.run_id != self._run_id]
        turns = shown_history(self._context, [*await self._older(), *here])
        return search(turns, query, limit=limit)

    async def _older(self) -> list[Turn]:
        if self._archived is None:
            self._archived = await self._contexts.read_archived_turns(
                self._context, before=self._context.next_turn_id, limit=SEARCHED_TURNS
            )
        return self._archived
