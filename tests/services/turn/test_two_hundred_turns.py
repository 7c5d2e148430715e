"""A talk of two hundred turns about one patient: what is held is true, quoted and current."""

from pathlib import Path

import pytest

from data_models.chat_context import ChatContext
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, World
from tests.tables import tables_beside

NOISE: tuple[str, ...] = tuple(tables_beside(Path(__file__))["noise"])
FALSE = ("iodine", "nuts", "headache", "apixaban", "digoxin", "latex", "Smok", "Marcumar")


async def said(world: World, text: str) -> str:
    return (await world.tell(text)).texts[-1]


@pytest.mark.slow
async def test_what_was_said_at_turn_three_is_right_at_turn_two_hundred() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store, clock=FixedClock())
    await said(world, "start a tumor board for patient_4")
    await said(world, "good morning")
    await said(world, "She is allergic to penicillin.")
    await said(world, "Her code status is DNR")
    await said(world, "She takes metformin 500 mg daily")
    for number in range(40):
        await said(world, f"remember that in week {number} she walked {number + 100} m")
    await said(world, "no wait, she is full code")
    await said(world, "She takes metformin 1000 mg daily")
    for number in range(153):
        await said(world, NOISE[number % len(NOISE)])
    told = await said(world, "What do you know about her?")

    assert "- Allergy: penicillin (" in told
    assert "turn 3: “She is allergic to penicillin.”" in told
    assert "- Code status: full code (" in told
    assert "- Takes: metformin 1000 mg daily (" in told
    assert "week 39" in told
    assert "DNR" not in told
    assert "500 mg" not in told
    assert not any(word in told for word in FALSE)
    data = store.contents[f"{CHAT}/patient_patient_4_context.json"]
    document = ChatContext.model_validate_json(data)
    held = [one for one in document.memory.key_points if one.status == "active"]
    assert all(one.quote and f"“{one.quote}”" in told for one in held)
    assert len(data) < 64_000
