"""Repeats what is stored of an answered message, and never answers one anew."""

from typing import Literal, TypeAlias

from data_models.clock import IdSource
from data_models.incoming_message import IncomingMessage
from services.conversations.claimant import Claimant
from services.conversations.stored_answers import StoredAnswers
from services.runs.hub import Run

Fate: TypeAlias = Literal["standing", "cleared", "unknown"]
"""What became of an answer: it went with a clear, or nobody remembers the message any more."""


class Repeats:
    """For replies that did not reach their channel the first time."""

    def __init__(self, *, claimant: Claimant, answers: StoredAnswers, ids: IdSource) -> None:
        self._claimant = claimant
        self._answers = answers
        self._ids = ids

    async def fate(self, message: IncomingMessage) -> Fate:
        """Tell whether the answer to `message` may still be shown, as the store has it now.

        Raises:
            StoreError, NotFoundError: the conversation cannot be read, or is somebody else's.
        """
        # Fresh: another replica may have cleared the conversation since we looked.
        stored = await self._claimant.look(message, fresh=True)
        answered = await self._claimant.find_answer(stored.document, message)
        if answered is None:
            return "unknown"
        return "standing" if answered.epoch == stored.document.epoch else "cleared"

    async def find(self, message: IncomingMessage) -> Run | None:
        """Return a finished run that repeats the answer to `message`, or None if there is none.

        Raises:
            StoreError, NotFoundError: the conversation cannot be read, or is somebody else's.
        """
        stored = await self._claimant.look(message, fresh=False)
        answered = await self._claimant.find_answer(stored.document, message)
        if answered is None:
            return None
        run = Run(run_id=self._ids.new_id("run"), message=message, replayed=True)
        await self._answers.repeat(run, answered)
        return run
