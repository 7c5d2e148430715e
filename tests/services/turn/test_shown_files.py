"""A file that a turn shows can be asked for at once."""

from collections.abc import Iterator

import pytest

from data_models.chat_context import Artifact
from data_models.conversations.turn_events import StateChanged
from services.group_chat_port import ArtifactMade, GroupChatEvent, GroupChatRequest
from tests.fakes_store import MemoryBlobStore
from tests.services.world import World
from tests.tables import with_cases


def _made(world: World, request: GroupChatRequest) -> ArtifactMade:
    return ArtifactMade(
        Artifact(
            artifact_id="report_1",
            file_name="report.docx",
            media_type="application/octet-stream",
            size_bytes=1,
            created_at=world.clock.now(),
            run_id=request.run_id,
        )
    )


async def test_a_file_is_stored_with_its_patient_before_it_is_shown() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    stored: list[bool] = []

    def making(request: GroupChatRequest) -> Iterator[GroupChatEvent]:
        yield _made(world, request)
        stored.append(any(b"report_1" in data for data in store.contents.values()))

    world.team.also = making  # type: ignore[assignment]
    await world.tell("start a tumor board for patient_4")

    assert stored == [True]


@with_cases("asked", "told")
async def test_a_file_is_handed_out_anew_to_whom_asks(asked: str, told: str) -> None:
    world = World()
    world.team.also = lambda request: (_made(world, request),)
    await world.tell("start a tumor board for patient_4")
    world.team.also = lambda request: ()

    heard = await world.tell(asked)

    assert heard.texts[-1].startswith("**report.docx** ")
    assert told in heard.texts[-1]
    shown = [one.state for one in heard.events if isinstance(one, StateChanged)][-1].artifacts
    assert [(one.file_name, one.run_id) for one in shown] == [("report.docx", heard.run.run_id)]


@pytest.mark.parametrize("asked", ["where is the report", "show me the CT report"])
async def test_the_file_of_one_patient_is_no_other_ones(asked: str) -> None:
    world = World()
    world.team.also = lambda request: (_made(world, request),)
    await world.tell("start a tumor board for patient_4")
    world.team.also = lambda request: ()
    if asked == "where is the report":
        await world.tell("switch to patient_15")

    assert "report.docx" not in (await world.tell(asked)).texts[-1]
