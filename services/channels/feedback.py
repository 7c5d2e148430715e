"""What users think of an answer, filed with the conversation it is about.

`{c}/feedback/{run_id}-{person}.json`: comments may name a patient, so they are kept like the
conversation itself. A clear archives them with everything else, and no model ever sees them.
"""

from typing import Literal

import structlog
from pydantic import AwareDatetime, BaseModel, Field

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.errors import BlobChangedError, BlobExistsError, StoreUnavailableError
from data_models.identifiers import hashed
from data_models.layout import ConversationLayout
from services.channels.deliveries import Deliveries
from services.telemetry.metrics import Metrics

COMMENT_LIMIT_CHARS = 4_000
_TRIES = 3

Reaction = Literal["like", "dislike"]
logger = structlog.get_logger()


class Feedback(BaseModel):
    """One person's opinion of one message.

    Attributes:
        run_id: The turn that said it; empty if the message is older than what is remembered.
        message_id: Our id of the agent's message, empty like `run_id`.
        channel_message_id: What the channel calls it.
        person: Hash of who said so: the newest opinion of a person about a message counts.
    """

    run_id: str
    message_id: str
    channel_message_id: str
    person: str
    reaction: Reaction
    comment: str = Field(default="", max_length=COMMENT_LIMIT_CHARS)
    given_at: AwareDatetime


class FeedbackBook:
    """Files opinions; that their givers take part in the conversation is checked before."""

    def __init__(
        self, *, store: BlobStore, deliveries: Deliveries, clock: Clock, metrics: Metrics
    ) -> None:
        self._store = store
        self._metrics = metrics
        self._deliveries = deliveries
        self._clock = clock

    async def file(
        self,
        conversation_id: str,
        *,
        principal_id: str,
        channel_message_id: str,
        reaction: Reaction,
        comment: str,
    ) -> Feedback:
        """Keep an opinion; a later one of the same person about the same message replaces it.

        Raises:
            StoreError: it was not kept.
        """
        sent = await self._deliveries.sent_as(conversation_id, channel_message_id)
        run_id = sent.run_id
        feedback = Feedback(
            run_id=run_id,
            message_id=sent.message_id,
            channel_message_id=channel_message_id,
            person=hashed(principal_id),
            reaction=reaction,
            comment=comment[:COMMENT_LIMIT_CHARS],
            given_at=self._clock.now(),
        )
        about = hashed(channel_message_id, principal_id)[:16]
        name = ConversationLayout.of(conversation_id).feedback(f"{run_id or 'unknown'}-{about}")
        await self._put(name, feedback.model_dump_json(indent=1).encode())
        self._metrics.opinion_given(reaction, agent=sent.agent)
        logger.info("feedback_given", run_id=run_id, outcome=reaction)
        return feedback

    async def _put(self, name: str, data: bytes) -> None:
        for _ in range(_TRIES):
            current = await self._store.read(name)
            try:
                if current is None:
                    await self._store.create(name, data)
                else:
                    await self._store.replace(name, data, etag=current.etag)
            except (BlobChangedError, BlobExistsError):
                continue
            return
        raise StoreUnavailableError("a feedback that others write too")
