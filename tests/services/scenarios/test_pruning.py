"""A version or plan is kept while any session can need it; days count after that (M16)."""

from pathlib import Path

import pytest

from data_models.chat_context import ChatContext
from data_models.errors import CorruptDocumentError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.scenarios.scenario_session import ScenarioSession
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.operators.operator_commands import Pruned, Pruner, lowest_in_use, prune
from services.scenarios.scenario_settings import CONTAINER, RetentionConfig
from services.stores import open_container
from tests.fakes import CountingIds
from tests.fakes_store import MemoryBlobStore
from tests.given_settings import given_settings
from tests.services.scenario_world import ScenarioWorld, step, version
from tests.services.scenarios.worlds import session_at

PATIENT = PatientId("patient_4")
DAY = 86_400.0
END = step("end", instructions="End.")


class Archive:
    """Four deployed versions, and conversations with sessions in some of them."""

    def __init__(self) -> None:
        self.world = ScenarioWorld()
        self.sessions = MemoryBlobStore()

    async def fill(self) -> None:
        await self.world.publish(graph(1))
        for number in (2, 3, 4):
            await self.world.deploy(graph(number))

    async def admit(self, name: str, session: ScenarioSession, *, left: bool = False) -> None:
        context = ChatContext(conversation_id=name, patient_id=PATIENT)
        if left:
            context.left_scenarios = [session]
        else:
            context.scenario = session
        place = ConversationLayout.of(name).context(PATIENT)
        await self.sessions.create(place, context.model_dump_json().encode())

    async def prune(self) -> Pruned:
        lowest = await lowest_in_use(self.sessions)
        config = RetentionConfig(version_retention_days=7, plan_retention_days=30)
        pruner = Pruner(
            store=ScenarioStore(blobs=self.world.blobs),
            blobs=self.world.blobs,
            clock=self.world.clock,
            config=config,
        )
        return await pruner.prune("visit", lowest=lowest.get("visit"))


def graph(number: int) -> Graph:
    extra = step(f"extra{number}", "end", instructions=f"Extra {number}.")
    return version(number, step("greet", extra.id, instructions="Greet."), extra, END)


@pytest.fixture
async def archive() -> Archive:
    found = Archive()
    await found.fill()
    return found


async def test_m16_what_nobody_needs_goes_after_its_days_and_plans_later(archive: Archive) -> None:
    assert (await archive.prune()).versions == []
    archive.world.clock.advance(6 * DAY)
    assert (await archive.prune()).versions == []
    archive.world.clock.advance(1 * DAY)
    done = await archive.prune()
    assert (done.versions, done.plans) == ([1, 2], [])
    archive.world.clock.advance(23 * DAY)
    assert (await archive.prune()).plans == [1, 2]


@pytest.mark.parametrize("left", [False, True], ids=["open", "left"])
async def test_m16_a_session_keeps_its_version_and_all_later(archive: Archive, left: bool) -> None:
    await archive.admit("one", session_at(graph(2), ["greet"], []), left=left)
    await archive.prune()
    archive.world.clock.advance(40 * DAY)
    done = await archive.prune()
    assert (done.versions, done.plans) == ([1], [1])


async def test_m16_a_checkpoint_of_an_older_version_keeps_that_version(archive: Archive) -> None:
    session = session_at(graph(3), ["greet"], ["greet"])
    passed = [one.model_copy(update={"version": 1}) for one in session.completed_checkpoints]
    await archive.admit("one", session.model_copy(update={"completed_checkpoints": passed}))
    await archive.prune()
    archive.world.clock.advance(40 * DAY)
    assert (await archive.prune()).versions == []


async def test_m16_days_begin_anew_when_it_was_needed_in_between(archive: Archive) -> None:
    await archive.prune()
    archive.world.clock.advance(5 * DAY)
    await archive.admit("one", session_at(graph(1), ["greet"], []))
    await archive.prune()
    await archive.sessions.delete(ConversationLayout.of("one").context(PATIENT))
    archive.world.clock.advance(5 * DAY)
    assert (await archive.prune()).versions == []


async def test_m16_an_ended_session_keeps_nothing(archive: Archive) -> None:
    session = session_at(graph(1), ["greet"], []).model_copy(update={"step": None})
    await archive.admit("one", session)
    await archive.prune()
    archive.world.clock.advance(8 * DAY)
    assert (await archive.prune()).versions == [1, 2]


async def test_m16_a_document_that_cannot_be_read_stops_everything(archive: Archive) -> None:
    place = ConversationLayout.of("torn").context(PATIENT)
    await archive.sessions.create(place, b"{")
    with pytest.raises(CorruptDocumentError):
        await lowest_in_use(archive.sessions)


@pytest.mark.slow
async def test_m16_the_command_looks_through_the_servers_own_data(tmp_path: Path) -> None:
    settings = given_settings(data_dir=tmp_path)
    blobs = open_container(settings, CONTAINER, ids=CountingIds())
    world = ScenarioWorld(blobs=blobs)
    await world.publish(graph(1))
    for number in (2, 3):
        await world.deploy(graph(number))
    found = await prune(settings)
    report = found["visit"]
    assert isinstance(report, dict)
    assert report["versions"] == []
    assert list(report["unneeded_since"]) == ["1"]  # type: ignore[arg-type]
