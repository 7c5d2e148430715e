"""The jumps of single sessions as operators read them: versions and steps, nothing of a patient."""

import asyncio
from collections.abc import Sequence
from heapq import nlargest

from pydantic import ValidationError

from data_models.blob_store import BlobInfo, BlobStore
from data_models.errors import CorruptDocumentError
from data_models.identifiers import hashed
from data_models.scenario_session import MigrationAppliedEvent

READ_LIMIT = 50
LISTED_LIMIT = 5_000
"""Beyond that many the audit trail is the place to look; a page must not wait for them."""
_SESSION_CHARS = 10


class Jumps:
    """Reads the newest events of a scenario."""

    def __init__(self, *, blobs: BlobStore) -> None:
        self._blobs = blobs

    async def newest(self, scenario_id: str) -> Sequence[MigrationAppliedEvent]:
        """Return the newest jumps, newest first.

        Raises:
            CorruptDocumentError: an event cannot be read.
        """
        listed: list[BlobInfo] = []
        async for info in self._blobs.list(f"scenarios/{scenario_id}/events/"):
            listed.append(info)
            if len(listed) == LISTED_LIMIT:
                break
        names = [one.name for one in nlargest(READ_LIMIT, listed, key=lambda one: one.modified_at)]
        blobs = await asyncio.gather(*(self._blobs.read(name) for name in names))
        try:
            found = [MigrationAppliedEvent.model_validate_json(one.data) for one in blobs if one]
        except ValidationError as error:
            raise CorruptDocumentError("Jump cannot be read") from error
        return sorted(found, key=lambda one: one.timestamp, reverse=True)


def describe_jump(event: MigrationAppliedEvent) -> str:
    """Return a jump in one line."""
    versions = f"version {event.from_version} to {event.to_version}"
    steps = f"{event.step_before} to {event.step_after or 'the end'}"
    kind = (event.migration_scenario or event.action_taken).replace("_", " ")
    marks = ((event.pinned, "stays on its version"), (event.blocked_by_checkpoint, "blocked"))
    more = [text for is_so, text in marks if is_so]
    session = hashed(event.session_id)[:_SESSION_CHARS]  # as the page names sessions elsewhere
    return f"session {session}: {', '.join([versions, steps, kind, *more])}"
