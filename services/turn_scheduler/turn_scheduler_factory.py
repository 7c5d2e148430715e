"""The scheduler as the settings ask for it."""

from data_models.blob_store import BlobStore
from data_models.clock import Clock, IdSource
from data_models.conversation_accessor import ConversationAccessor
from services.conversations.claimant import Claimant
from services.conversations.stored_answers import StoredAnswers
from services.replica import Replica
from services.runs.hub import RunHub
from services.runs.stop_requests import ReplicaSignals, StopRequests
from services.turn_pipeline import TurnPipeline
from services.turn_scheduler.conversation_worker import ConversationWorker
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.turn_scheduler.turn_slots import TurnSlots
from settings import Settings


def turn_scheduler_for(
    settings: Settings,
    *,
    pipeline: TurnPipeline,
    claimant: Claimant,
    answers: StoredAnswers,
    conversations: ConversationAccessor,
    users: BlobStore,
    replica: Replica,
    clock: Clock,
    ids: IdSource,
) -> TurnScheduler:
    """Return the one way into `pipeline`."""
    hub = RunHub(clock=clock)
    stops = StopRequests(
        conversations=conversations, signals=ReplicaSignals(store=users), replica=replica.name
    )
    driver = ConversationWorker(
        pipeline=pipeline,
        claimant=claimant,
        answers=answers,
        hub=hub,
        slots=TurnSlots(limit=settings.turns_at_once),
        stops=stops,
    )
    return TurnScheduler(
        driver=driver,
        claimant=claimant,
        hub=hub,
        ids=ids,
        stops=stops,
        message_limit_chars=settings.message_limit_chars,
    )
