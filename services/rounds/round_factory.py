"""The rounds that the settings ask for."""

from dataclasses import dataclass

from data_models.clock import Clock, IdSource
from services.conversations.conversation_factory import claim_times_for
from services.evidence.looks import LookBook
from services.records.ports import PatientRecords
from services.replica import Replica
from services.rounds.choosing import Choice
from services.rounds.preparing import Preparation, RoundPreparer
from services.rounds.round_actions import RoundActions
from services.rounds.round_book import RoundEntry
from services.rounds.round_service import RoundService
from services.turn_scheduler.turn_scheduler import TurnScheduler
from services.views.conversation_reader import ConversationReader
from settings import Settings


@dataclass(frozen=True, slots=True)
class Rounds:
    """What belongs to rounds: lists and cards, what people do on them, the work behind."""

    service: RoundService
    actions: RoundActions
    preparer: RoundPreparer


def rounds_for(
    settings: Settings,
    *,
    entry: RoundEntry,
    choice: Choice,
    records: PatientRecords,
    scheduler: TurnScheduler,
    reader: ConversationReader,
    looks: LookBook | None,
    replica: Replica,
    clock: Clock,
    ids: IdSource,
) -> Rounds:
    """Return the rounds: lists of the book behind `entry`, of patients of `records`."""
    preparer = RoundPreparer(
        book=entry.book,
        preparation=Preparation(
            scheduler=scheduler, reader=reader, records=records, entry=entry, clock=clock
        ),
        replica=replica,
        clock=clock,
        parallel=settings.rounds_parallel,
        times=claim_times_for(settings),
    )
    service = RoundService(
        entry=entry,
        preparer=preparer,
        choice=choice,
        records=records,
        reader=reader,
        looks=looks,
        clock=clock,
        ids=ids,
    )
    actions = RoundActions(entry=entry, preparer=preparer, clock=clock)
    return Rounds(service=service, actions=actions, preparer=preparer)
