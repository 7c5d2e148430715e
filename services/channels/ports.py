"""What a channel needs from the services, how one is added, and what users think of an answer.

`{c}/feedback/{run_id}-{person}.json`: comments may name a patient, so they are kept like the
conversation itself. A clear archives them with everything else, forgetting a patient deletes those
that name them, and no model ever sees them.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import structlog
from aiohttp import web
from pydantic import AwareDatetime, BaseModel, Field, model_validator

from data_models.chat_context import ChatContext, Turn
from data_models.clock import Clock, IdSource
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import SharedState
from data_models.errors import NotFoundError
from data_models.identifiers import ConversationLayout, hashed
from data_models.storage.blob_store import BlobStore, change_blob
from services.access.limits import MessageRate
from services.access.on_behalf import OnBehalf
from services.channels.deliveries import Deliveries
from services.conversations.claimant import Claimant
from services.conversations.earlier_turns import StoredAnswers
from services.group_chat_port import GroupChat
from services.hand_over.hand_over import HandOver
from services.runs.hub import Run
from services.telemetry.metrics import Metrics
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import ConversationReader, OwnedChat
from settings import Settings

COMMENT_LIMIT_CHARS = 4_000

Reaction = Literal["like", "dislike"]
Reason = Literal["wrong", "wrong_patient", "not_supported", "incomplete", "other"]
logger = structlog.get_logger()


class Feedback(BaseModel):
    """One person's opinion of one message.

    Attributes:
        run_id: The turn that said it; empty if the message is older than what is remembered.
        message_id: Our id of the agent's message, empty like `run_id`.
        channel_message_id: What the channel calls it.
        person: Hash of who said so: the newest opinion of a person about a message counts.
        reason: What is wrong, of those that a page offers; None where nobody chose one.
        patient_id: Whom the answer was about; "" where the channel does not say.
    """

    run_id: str
    message_id: str
    channel_message_id: str
    person: str
    reaction: Reaction
    comment: str = Field(default="", max_length=COMMENT_LIMIT_CHARS)
    reason: Reason | None = None
    patient_id: str = ""
    given_at: AwareDatetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackBook:
    """Files opinions; that their givers take part in the conversation is checked before."""

    store: BlobStore
    deliveries: Deliveries
    clock: Clock
    metrics: Metrics

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
        sent = await self.deliveries.find_sent(conversation_id, channel_message_id)
        feedback = Feedback(
            run_id=sent.run_id,
            message_id=sent.message_id,
            channel_message_id=channel_message_id,
            person=hashed(principal_id),
            reaction=reaction,
            comment=comment[:COMMENT_LIMIT_CHARS],
            given_at=self.clock.now(),
        )
        await self.keep(conversation_id, feedback, principal_id=principal_id, agent=sent.agent)
        return feedback

    async def keep(
        self, conversation_id: str, feedback: Feedback, *, principal_id: str, agent: str
    ) -> None:
        """Keep an opinion in the place of the same person's before about the same message.

        Args:
            agent: Who said what it is about; "" where that is not remembered.

        Raises:
            StoreError: it was not kept.
        """
        run_id = feedback.run_id
        name = _name(conversation_id, run_id, feedback.channel_message_id, principal_id)
        data = feedback.model_dump_json(indent=1).encode()
        await change_blob(self.store, name, lambda _: data, what="a feedback")
        self.metrics.opinion_given(feedback.reaction, agent=agent)
        logger.info("feedback_given", run_id=run_id, outcome=feedback.reaction)

    async def take_back(self, conversation_id: str, run_id: str, *, principal_id: str) -> None:
        """Forget what somebody said on the web page of a run; nothing there is no error.

        Raises:
            StoreError: it may still be kept.
        """
        await self.store.delete(_name(conversation_id, run_id, "", principal_id))
        logger.info("feedback_taken_back", run_id=run_id)

    async def read_of_page(self, conversation_id: str, *, principal_id: str) -> list[Feedback]:
        """Return what somebody said on the web page, of whichever patient."""
        end = f"-{_about('', principal_id)}.json"
        rows = self.store.list(ConversationLayout.of(conversation_id).feedback_prefix)
        names = [row.name async for row in rows if row.name.endswith(end)]
        blobs = await asyncio.gather(*(self.store.read(name) for name in names))
        return [Feedback.model_validate_json(blob.data) for blob in blobs if blob is not None]


def _name(conversation_id: str, run_id: str, channel_message_id: str, principal_id: str) -> str:
    about = _about(channel_message_id, principal_id)
    return ConversationLayout.of(conversation_id).feedback(f"{run_id or 'unknown'}-{about}")


def _about(channel_message_id: str, principal_id: str) -> str:
    return hashed(channel_message_id, principal_id)[:16]


# What people on the web page think of an answer, in the same book as other channels' thumbs.

Verdict = Literal["up", "down"]
_REACTIONS: dict[Verdict, Reaction] = {"up": "like", "down": "dislike"}


class Opinion(BaseModel, extra="forbid"):
    """A thumb, and for one that points down why."""

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

    `give` and `take_back` raise `NotFoundError` where the conversation is absent, malformed or not
    the owner's, or the patient is not in it, and `ChartClosedError` where the chart is closed.
    """

    reader: ConversationReader
    book: FeedbackBook

    async def take_back(self, chat: OwnedChat, run_id: str) -> None:
        """Keep none of the answer of a turn any more; repeating it is no error.

        Raises:
            NotFoundError: also where nobody has answered in that turn.
            StoreError: it may still be kept.
        """
        _, turn = await self._answered(chat, run_id)
        await self.book.take_back(chat.chat_id, turn.run_id, principal_id=chat.owner)

    async def _answered(self, chat: OwnedChat, run_id: str) -> tuple[ChatContext, Turn]:
        document = await self.reader.document(chat, "give_feedback")
        turn = await self.reader.contexts.turn_of_run(document, run_id)
        if turn is None or not turn.agent_responses:
            raise NotFoundError("nobody answered in such a turn")
        return document, turn

    async def give(self, chat: OwnedChat, run_id: str, opinion: Opinion) -> None:
        """Keep an opinion of the answer of a turn, in the place of the one before.

        Raises:
            NotFoundError: also where nobody has answered in that turn.
            StoreError: it was not kept.
        """
        document, turn = await self._answered(chat, run_id)
        last = turn.agent_responses[-1]
        feedback = Feedback(
            run_id=turn.run_id,
            message_id=last.message_id,
            channel_message_id="",
            person=hashed(chat.owner),
            reaction=_REACTIONS[opinion.verdict],
            comment=opinion.text,
            reason=opinion.reason,
            patient_id=document.patient_id or "",
            given_at=self.reader.clock.now(),
        )
        await self.book.keep(chat.chat_id, feedback, principal_id=chat.owner, agent=last.agent)

    async def read_of_history(self, chat: OwnedChat) -> dict[str, Opinion]:
        """Return what the owner, who reads that history now, thinks of its answers, by run."""
        rows = await self.book.read_of_page(chat.chat_id, principal_id=chat.owner)
        whose = chat.patient_id or ""
        return {row.run_id: _shown(row) for row in rows if row.patient_id == whose}


def _shown(row: Feedback) -> Opinion:
    verdict: Verdict = "up" if row.reaction == "like" else "down"
    return Opinion(verdict=verdict, reason=row.reason, text=row.comment)


# Repeats what is stored of an answered message, and never answers one anew.

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


@dataclass(frozen=True, slots=True)
class ChannelServices:
    """What a channel works with.

    Attributes:
        footer: Makes the PT_CTX footer of every agent message.
        on_behalf: Takes what users sign in with; None: nobody is asked to.
        patient_id_example: An id of the form that is accepted, for texts.
    """

    scheduler: TurnScheduler
    team: GroupChat
    footer: Callable[[SharedState], str]
    rate: MessageRate
    clock: Clock
    deliveries: Deliveries
    answers: Repeats
    hand_over: HandOver
    feedback: FeedbackBook
    reader: ConversationReader
    on_behalf: OnBehalf | None = None
    patient_id_example: str = "patient_4"


AddChannel = Callable[[web.Application, Settings, ChannelServices], None]
"""Adds a channel's routes to the application and what delivers to it: `TurnScheduler.on_orphan`."""
