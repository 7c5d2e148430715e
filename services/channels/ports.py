"""What a channel needs from the services, and how one is added."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from aiohttp import web

from data_models.clock import Clock, IdSource
from data_models.conversations.incoming_message import IncomingMessage
from data_models.conversations.turn_events import SharedState
from services.access.limits import MessageRate
from services.access.on_behalf import OnBehalf
from services.channels.deliveries import Deliveries
from services.channels.feedback import FeedbackBook
from services.conversations.claimant import Claimant
from services.conversations.earlier_turns import StoredAnswers
from services.group_chat_port import GroupChat
from services.hand_over.hand_over import HandOver
from services.runs.hub import Run
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import ConversationReader
from settings import Settings

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
