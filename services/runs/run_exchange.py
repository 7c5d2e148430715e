"""What lets a run be watched from a replica that does not run it: both sides of it."""

from dataclasses import dataclass

from data_models.blob_store import BlobStore
from data_models.clock import Clock
from data_models.conversation_accessor import ConversationAccessor
from services.conversations.claimant import Claimant
from services.conversations.stored_answers import StoredAnswers
from services.run_journal.pace import Pace
from services.run_journal.replica_signals import ReplicaSignals
from services.runs.hub import RunHub
from services.runs.remote_runs import RemoteRuns
from services.runs.shared_runs import SharedRuns


@dataclass(frozen=True, slots=True)
class RunExchange:
    """The runs of this replica that others may ask for, and those of others that it shows."""

    shared: SharedRuns
    elsewhere: RemoteRuns

    async def close(self) -> None:
        """Show nothing any more, and leave nothing behind."""
        self.elsewhere.close()
        await self.shared.close()


def run_exchange_for(
    *,
    sessions: BlobStore,
    users: BlobStore,
    replica: str,
    conversations: ConversationAccessor,
    claimant: Claimant,
    answers: StoredAnswers,
    hub: RunHub,
    clock: Clock,
    pace: Pace | None = None,
) -> RunExchange:
    """Return both sides; journals stand in `sessions`, signals, which name nobody, in `users`."""
    signals, pace = ReplicaSignals(store=users), pace or Pace()
    return RunExchange(
        shared=SharedRuns(store=sessions, signals=signals, replica=replica, clock=clock, pace=pace),
        elsewhere=RemoteRuns(
            conversations=conversations,
            claimant=claimant,
            answers=answers,
            store=sessions,
            signals=signals,
            hub=hub,
            clock=clock,
            pace=pace,
        ),
    )
