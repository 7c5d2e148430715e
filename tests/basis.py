"""What factories build with, of stand-ins."""

from typing import Any

import aiohttp

from services.basis import Basis
from settings import Settings
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore


def basis_of(settings: Settings, session: aiohttp.ClientSession, **given: Any) -> Basis:
    """Return what a process with these settings builds with; what is not given is a stand-in."""
    own: dict[str, Any] = {"users": MemoryBlobStore(), "clock": FixedClock(), "ids": CountingIds()}
    return Basis(settings=settings, session=session, **own | given)
