"""What the factories of parts build with: the settings, and what reaches out of the process."""

from dataclasses import dataclass

import aiohttp

from data_models.clock import Clock, IdSource
from data_models.storage.blob_store import BlobStore
from settings import Settings


@dataclass(frozen=True, kw_only=True)
class Basis:
    """One for each process.

    Attributes:
        users: The container beside the conversations.
        session: For calls to servers; it goes only to hosts that the settings allow.
    """

    settings: Settings
    users: BlobStore
    session: aiohttp.ClientSession
    clock: Clock
    ids: IdSource
