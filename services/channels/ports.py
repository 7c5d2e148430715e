"""What a channel needs from the services, and how one is added."""

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from data_models.clock import Clock
from data_models.turn_events import SharedState
from services.access.limits import MessageRate
from services.access.on_behalf import OnBehalf
from services.channels.deliveries import Deliveries
from services.channels.feedback import FeedbackBook
from services.channels.repeats import Repeats
from services.group_chat_port import GroupChat
from services.hand_over.hand_over import HandOver
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import ConversationReader
from settings import Settings


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
