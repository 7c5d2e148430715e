"""A process that is killed for good at one storage operation; run with `python -m`."""

import asyncio
import sys
from pathlib import Path

from data_models.storage.local_blob_store import LocalBlobStore
from tests.faults import FaultyBlobStore, Kill
from tests.services.world import World

BEFORE = "start a tumor board for patient_4, says two"
TEXTS = ("switch to patient_15 and tell me the stage, says alpha", "clear patient context")


def world_at(root: Path, store: FaultyBlobStore | None = None) -> World:
    """Return a replica on the folder `root`; its sessions may be in a failing store."""
    sessions = store or LocalBlobStore(root=root / "sessions")
    return World(
        sessions=sessions,
        users=LocalBlobStore(root=root / "users"),
        audit_store=LocalBlobStore(root=root / "audit"),
    )


async def die(root: str, number: str, after: str) -> None:
    """Say what is to be said; SIGKILL comes at the numbered operation, before or after it."""
    fault = Kill(after=after == "after", really=True)
    store = FaultyBlobStore(LocalBlobStore(root=Path(root) / "sessions"), {int(number): fault})
    world = world_at(Path(root), store)
    for count, text in enumerate(TEXTS):
        await world.tell(text, message_id=f"m-{count}")


if __name__ == "__main__":
    asyncio.run(die(*sys.argv[1:]))
