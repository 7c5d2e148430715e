"""Sessions are moved beside running servers: no turn and no move ever loses the other's words."""

import asyncio
import json
from typing import Any

import pytest

from data_models.entities.entities import Entities
from legacy.entity_mover import Mover, MoveReport
from services.conversations.maintenance_lease import MaintenanceLease
from services.entities.circumstances import AgentNames
from services.stores import ContextDocuments
from tests.durability.evidence import Evidence
from tests.fakes_store import MemoryBlobStore
from tests.given import present
from tests.services.entities.world import BOOKING
from tests.services.world import CHAT, FarReplica, World

NAME = f"{CHAT}/patient_patient_4_context.json"


@pytest.fixture
async def world() -> World:
    """A conversation whose document of patient_4 still has the legacy form."""
    sessions = MemoryBlobStore()
    world = World(sessions=sessions)
    await world.say("start a tumor board for patient_4")
    await world.scheduler.idle()
    blob = present(await sessions.read(NAME))
    document = json.loads(blob.data)
    document["continuation_context"] = {"entities": {"doctor_name": "Dr. Smith"}}
    await sessions.replace(NAME, json.dumps(document).encode(), etag=blob.etag)
    return World(sessions=sessions, users=world.users)  # remembers nothing of it


def mover(world: World) -> Mover:
    """As a command of another process makes it."""
    away = World(sessions=world.sessions, users=world.users, replica=FarReplica())
    lease = MaintenanceLease(claimant=away.claimant, ids=away.ids, wait_seconds=0.1)
    documents = ContextDocuments(store=world.sessions, lease=lease, principal_id="migration")
    return Mover(documents=documents, team=AgentNames.of([BOOKING]), clock=world.clock)


async def stored(world: World) -> dict[str, Any]:
    blob = present(await world.sessions.read(NAME))
    document: dict[str, Any] = json.loads(blob.data)
    return document


def counts(report: MoveReport) -> tuple[int, int, int]:
    return report.migrated, report.skipped, report.failed


@pytest.mark.slow
async def test_a_session_is_moved_under_its_claim_which_is_then_free(world: World) -> None:
    assert counts(await mover(world).move()) == (1, 0, 0)
    document = await stored(world)
    moved = Entities.model_validate(document["entities"]).conversation.get_all()
    assert moved == {"doctor_preference": "Dr. Smith"}
    assert isinstance(world.sessions, MemoryBlobStore)
    assert Evidence(world.sessions.contents, CHAT).conversation.running_turn is None
    assert (await world.say("go on")).texts == ["Heard: go on"]


@pytest.mark.slow
async def test_a_session_with_a_running_turn_is_left_alone_and_moved_later(world: World) -> None:
    run = await world.hold("hello")
    await asyncio.sleep(0)
    report = await mover(world).move()
    assert counts(report) == (0, 0, 1)
    assert [row["code"] for row in report.errors] == ["conversation_busy"]
    world.team.gate.set()
    async for _ in run.events():
        pass
    await world.scheduler.idle()
    assert counts(await mover(world).move())[2] == 0
    document = await stored(world)
    assert [turn["user_message"] for turn in document["chat_history"]][-1] == "hello"
    assert "entities" not in document["continuation_context"]


async def test_a_session_moves_back_under_its_claim(world: World) -> None:
    before = await stored(world)
    await mover(world).move()
    assert counts(await mover(world).roll_back()) == (1, 0, 0)
    assert await stored(world) == before
