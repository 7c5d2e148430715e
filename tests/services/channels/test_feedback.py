"""What users think of an answer is kept, whoever writes at the same moment."""

from data_models.blob_store import Blob
from services.channels.deliveries import Deliveries
from services.channels.feedback import FeedbackBook
from services.replica import Replica
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore


class Crowded(MemoryBlobStore):
    """Another replica writes right after the next read."""

    is_crowded = False

    async def read(self, name: str) -> Blob | None:
        found = await super().read(name)
        if found is not None and self.is_crowded:
            self.is_crowded = False
            await super().replace(name, b"{}", etag=found.etag)
        return found


async def test_an_opinion_that_meets_another_of_the_same_moment_is_kept() -> None:
    store, clock = Crowded(), FixedClock()
    deliveries = Deliveries(store=MemoryBlobStore(), replica=Replica(), clock=clock)
    book = FeedbackBook(store=store, deliveries=deliveries, clock=clock)

    async def think(comment: str) -> None:
        await book.file(
            "chat", principal_id="ann", channel_message_id="1", reaction="like", comment=comment
        )

    await think("first")
    store.is_crowded = True
    await think("second")
    (kept,) = store.contents.values()
    assert b"second" in kept
