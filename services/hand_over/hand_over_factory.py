"""The queues that the settings ask for."""

from dataclasses import dataclass

from data_models.errors import ConfigurationError
from data_models.storage.work_queue import WorkQueue
from settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnQueues:
    """Where notes of turns are kept, and where those that nobody can serve.

    Attributes:
        hidden_seconds: As long as a dead replica's claim is respected, or longer.
        renew_seconds: How often the note of a running turn is hidden again.
    """

    turns: WorkQueue
    poison: WorkQueue
    hidden_seconds: int
    renew_seconds: float

    async def close(self) -> None:
        """Release connections."""
        await self.turns.close()
        await self.poison.close()


def turn_queues_for(settings: Settings) -> TurnQueues | None:
    """Return the queues that `TURN_QUEUE` names; None if it names none.

    Raises:
        ConfigurationError: there is no account to keep them in.
    """
    if (name := settings.turn_queue) is None:
        return None
    return TurnQueues(
        turns=_opened(settings, name),
        poison=_opened(settings, f"{name}-poison"),
        hidden_seconds=settings.note_hidden_seconds,
        renew_seconds=settings.claim_renew_seconds,
    )


def _opened(settings: Settings, name: str) -> WorkQueue:
    # Azure's SDK takes half a second to import.
    from data_models.storage.azure_work_queue import AzureWorkQueue

    account, blobs = settings.azure_account, settings.app_blob_storage_endpoint
    if account is None:
        raise ConfigurationError(
            "TURN_QUEUE: needs Azure Storage, for a queue on one machine hands nothing over. "
            "Example: AZURE_STORAGE_CONNECTION_STRING=... TURN_QUEUE=rounds-turns"
        )
    if blobs is not None:
        account = settings.turn_queue_endpoint or blobs.replace(".blob.", ".queue.")
    return AzureWorkQueue(account, queue=name)
