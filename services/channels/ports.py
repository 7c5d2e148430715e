"""What a channel needs from the services, and how one is added."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web

from data_models.chat_context import Artifact
from data_models.clock import Clock
from data_models.incoming_message import IncomingMessage
from data_models.turn_events import SharedState
from services.channels.deliveries import Deliveries
from services.channels.feedback import FeedbackBook
from services.channels.repeats import Fate
from services.group_chat_port import AgentCard
from services.runs.hub import Run
from settings import Settings

Deliver = Callable[[Run], Coroutine[None, None, None]]


class Scheduler(Protocol):
    """Takes messages, one turn at a time per conversation; `TurnScheduler` fits."""

    async def submit(self, message: IncomingMessage) -> Run:
        """Return when the message is durable; the turn goes on whether or not anybody watches.

        Raises:
            RoundsError: it was refused, or could not be made durable.
        """
        ...

    def on_orphan(self, channel: str, deliver: Deliver) -> None:
        """Have `deliver` reply to queued messages that came in on another replica."""
        ...


class HandOver(Protocol):
    """Has a dead replica's turns finished; `services.hand_over.hand_over.HandOver` fits."""

    async def watch(self, message: IncomingMessage, done: Awaitable[object]) -> None:
        """Have another replica answer `message` should this one die before it is `done`."""
        ...

    def on_settled(self, settle: Callable[[IncomingMessage], Awaitable[None]]) -> None:
        """Have `settle` deliver what an answered message's conversation is owed."""
        ...


class Answers(Protocol):
    """Repeats stored answers; `services.channels.repeats.Repeats` fits."""

    async def fate(self, message: IncomingMessage) -> Fate:
        """Tell whether the answer to `message` may still be shown.

        Raises:
            RoundsError: the conversation cannot be read, or is somebody else's.
        """
        ...

    async def of(self, message: IncomingMessage) -> Run | None:
        """Return a finished run that repeats the answer to `message`, or None if there is none.

        Raises:
            RoundsError: the conversation cannot be read, or is somebody else's.
        """
        ...


class Reader(Protocol):
    """Reads conversations; `services.views.conversation_reader.ConversationReader` fits."""

    async def access(self, conversation_id: str, *, owner: str) -> None:
        """Return if `owner` may use the conversation: the one authenticator.

        Raises:
            NotFoundError: there is none, or it is not the owner's.
        """
        ...

    async def is_web_conversation(self, conversation_id: str) -> bool:
        """Whether there is such a conversation and no channel's bot began it."""
        ...

    async def artifact(
        self,
        conversation_id: str,
        *,
        owner: str,
        patient_id: str,
        artifact_id: str,
        reader: str | None = None,
    ) -> tuple[Artifact, bytes]:
        """Return a file of a patient of the conversation for `reader`; leave an audit record.

        Raises:
            NotFoundError: no such conversation, not the owner's, or no such file.
            ChartClosedError: the patient's chart is not open to who reads.
        """
        ...


class Team(Protocol):
    """Who may be addressed; a `GroupChat` fits."""

    @property
    def agents(self) -> Sequence[AgentCard]:
        """The team, facilitator first."""
        ...

    @property
    def facilitator(self) -> str:
        """The agent whose bot answers at `/api/messages`."""
        ...


class Rate(Protocol):
    """Counts messages; `services.access.limits.MessageRate` fits."""

    def take(self, principal_id: str) -> None:
        """Count one message.

        Raises:
            RateLimitedError: there were too many.
        """
        ...


@dataclass(frozen=True, slots=True)
class ChannelServices:
    """What a channel works with.

    Attributes:
        footer: Makes the PT_CTX footer of every agent message.
        patient_id_example: An id of the form that is accepted, for texts.
    """

    scheduler: Scheduler
    team: Team
    footer: Callable[[SharedState], str]
    rate: Rate
    clock: Clock
    deliveries: Deliveries
    answers: Answers
    hand_over: HandOver
    feedback: FeedbackBook
    reader: Reader
    patient_id_example: str = "patient_4"


AddChannel = Callable[[web.Application, Settings, ChannelServices], None]
"""Adds a channel's routes to the application, and what delivers to it (`Scheduler.on_orphan`)."""
