"""Repeats what is stored of an answered message, and never answers one anew."""

from data_models.clock import IdSource
from data_models.incoming_message import IncomingMessage
from services.conversations.claimant import Claimant
from services.conversations.stored_answers import StoredAnswers
from services.run_hub import Run


class Repeats:
    """For replies that did not reach their channel the first time."""

    def __init__(self, *, claimant: Claimant, answers: StoredAnswers, ids: IdSource) -> None:
        self._claimant = claimant
        self._answers = answers
        self._ids = ids

    async def of(self, message: IncomingMessage) -> Run | None:
        """Return a finished run that repeats the answer to `message`, or None if there is none.

        Raises:
            StoreError, NotFoundError: the conversation cannot be read, or is somebody else's.
        """
        stored = await self._claimant.look(message, fresh=False)
        answered = await self._claimant.answered(stored.document, message)
        if answered is None:
            return None
        run = Run(run_id=self._ids.new_id("run"), message=message, replayed=True)
        await self._answers.repeat(run, answered)
        return run
