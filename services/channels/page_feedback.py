"""What people on the web page think of an answer, in the same book as other channels' thumbs."""

from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock
from data_models.errors import NotFoundError
from data_models.identifiers import PatientId, hashed
from services.channels.feedback import COMMENT_LIMIT_CHARS, Feedback, FeedbackBook, Reaction, Reason
from services.views.conversation_reader import ConversationReader

Verdict = Literal["up", "down"]
_REACTIONS: dict[Verdict, Reaction] = {"up": "like", "down": "dislike"}


class Opinion(BaseModel):
    """A thumb, and for one that points down why."""

    model_config = ConfigDict(extra="forbid")

    verdict: Verdict
    reason: Reason | None = None
    text: str = Field(default="", max_length=COMMENT_LIMIT_CHARS)

    @model_validator(mode="after")
    def _says_why_of_down_only(self) -> Self:
        if self.verdict == "up" and (self.reason or self.text):
            raise ValueError("a reason goes with down")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFeedback:
    """Takes opinions of the owner of a conversation. Holds nothing of any.

    `give` raises `NotFoundError` where the conversation is absent, malformed or not the owner's, or
    the patient is not in it, and `ChartClosedError` where the chart is closed to them.
    """

    reader: ConversationReader
    contexts: ChatContextAccessor
    book: FeedbackBook
    clock: Clock

    async def give(
        self,
        conversation_id: str,
        run_id: str,
        opinion: Opinion,
        *,
        owner: str,
        patient_id: str | None,
    ) -> None:
        """Keep an opinion of the answer of a turn, in the place of the one before.

        Raises:
            NotFoundError: also where nobody has answered in that turn.
            StoreError: it was not kept.
        """
        document = await self.reader.document(
            conversation_id, owner=owner, patient_id=patient_id, action="give_feedback"
        )
        turn = await self.contexts.turn_of_run(document, run_id)
        if turn is None or not turn.agent_responses:
            raise NotFoundError("nobody answered in such a turn")
        last = turn.agent_responses[-1]
        feedback = Feedback(
            run_id=turn.run_id,
            message_id=last.message_id,
            channel_message_id="",
            person=hashed(owner),
            reaction=_REACTIONS[opinion.verdict],
            comment=opinion.text,
            reason=opinion.reason,
            patient_id=document.patient_id or "",
            given_at=self.clock.now(),
        )
        await self.book.keep(conversation_id, feedback, principal_id=owner, agent=last.agent)

    async def read_of_history(
        self, conversation_id: str, *, owner: str, patient_id: PatientId | None
    ) -> dict[str, Opinion]:
        """Return what the owner, who reads that history now, thinks of its answers, by run."""
        rows = await self.book.read_of_page(conversation_id, principal_id=owner)
        return {row.run_id: _shown(row) for row in rows if row.patient_id == (patient_id or "")}


def _shown(row: Feedback) -> Opinion:
    verdict: Verdict = "up" if row.reaction == "like" else "down"
    return Opinion(verdict=verdict, reason=row.reason, text=row.comment)
