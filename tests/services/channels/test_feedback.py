"""What users think of an answer is kept, whoever writes at the same moment."""

from prometheus_client import CollectorRegistry

from data_models.storage.blob_store import Blob
from services.basis import Replica
from services.channels.deliveries import Deliveries
from services.channels.ports import FeedbackBook, Reaction
from services.telemetry.metrics import Metrics
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.given import message_of


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
    metrics = Metrics(registry=CollectorRegistry())
    book = FeedbackBook(store=store, deliveries=deliveries, clock=clock, metrics=metrics)

    async def think(comment: str) -> None:
        await book.file(
            "chat", principal_id="ann", channel_message_id="1", reaction="like", comment=comment
        )

    await think("first")
    store.is_crowded = True
    await think("second")
    (kept,) = store.contents.values()
    assert b"second" in kept


async def test_a_thumb_is_counted_by_agent_and_model() -> None:
    store, clock = MemoryBlobStore(), FixedClock()
    deliveries = Deliveries(store=store, replica=Replica(), clock=clock)
    metrics = Metrics(registry=CollectorRegistry())
    metrics.model_is("gpt-4.1")
    book = FeedbackBook(store=store, deliveries=deliveries, clock=clock, metrics=metrics)
    note = deliveries.new_note("run_1", message_of(at=clock.now(), conversation_id="chat"))
    await deliveries.settle(note, {"1": "msg_1"}, agents={"msg_1": "Radiology"})
    given: list[tuple[str, Reaction]] = [("1", "like"), ("1", "dislike"), ("old", "like")]
    for channel_id, reaction in given:
        await book.file(
            "chat", principal_id="ann", channel_message_id=channel_id, reaction=reaction, comment=""
        )

    def count(agent: str, reaction: str) -> float | None:
        labels = {"agent": agent, "model": "gpt-4.1", "reaction": reaction}
        return metrics.registry.get_sample_value("rounds_thumbs_total", labels)

    assert (count("Radiology", "like"), count("Radiology", "dislike")) == (1, 1)
    assert (count("none", "like"), count("none", "dislike")) == (1, None)
