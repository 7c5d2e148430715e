"""A file that a turn shows can be asked for at once."""

from collections.abc import Iterator

from data_models.chat_context import Artifact
from services.group_chat_port import ArtifactMade, GroupChatEvent, GroupChatRequest
from tests.fakes_store import MemoryBlobStore
from tests.services.world import World


async def test_a_file_is_stored_with_its_patient_before_it_is_shown() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    stored: list[bool] = []

    def making(request: GroupChatRequest) -> Iterator[GroupChatEvent]:
        yield ArtifactMade(
            Artifact(
                artifact_id="report_1",
                file_name="report.docx",
                media_type="application/octet-stream",
                size_bytes=1,
                created_at=world.clock.now(),
                run_id=request.run_id,
            )
        )
        stored.append(any(b"report_1" in data for data in store.contents.values()))

    world.team.also = making  # type: ignore[assignment]
    await world.tell("start a tumor board for patient_4")

    assert stored == [True]
