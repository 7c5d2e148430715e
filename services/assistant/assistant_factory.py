"""The back end of the Assistant that the settings choose."""

import aiohttp

from data_models.blob_store import BlobStore
from data_models.clock import Clock, IdSource
from services.access.on_behalf import OnBehalf
from services.assistant.back_end import AssistantBackEnd
from services.assistant.graph_back_end import graph_for
from services.assistant.local_back_end import LocalAssistant
from services.assistant.local_samples import LocalSamples
from settings import Settings


def assistant_for(
    settings: Settings,
    *,
    store: BlobStore,
    session: aiohttp.ClientSession,
    clock: Clock,
    ids: IdSource,
    on_behalf: OnBehalf | None = None,
) -> AssistantBackEnd:
    """Return the one back end of this process.

    Args:
        store: Where the local back end keeps its files.
        session: For calls to a server; it goes only to hosts that the settings allow.
        on_behalf: Users' own tokens, where they sign in for them.
    """
    if settings.assistant_backend == "graph":
        return graph_for(settings, session=session, clock=clock, ids=ids, on_behalf=on_behalf)
    folder = settings.samples_part("assistant")
    return LocalAssistant(
        store=store,
        samples=LocalSamples(folder=folder if folder.is_dir() else None),
        clock=clock,
    )
