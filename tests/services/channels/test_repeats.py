"""What may still be said of an answered message that its channel has not had."""

from services.channels.ports import Repeats
from services.conversations.earlier_turns import StoredAnswers
from tests.services.world import World


def repeats_of(world: World) -> Repeats:
    answers = StoredAnswers(
        contexts=world.contexts,
        conversations=world.conversations,
        registries=world.registries,
        clock=world.clock,
        ids=world.ids,
        facilitator="Orchestrator",
    )
    return Repeats(claimant=world.claimant, answers=answers, ids=world.ids)


async def test_an_answer_stands_until_a_clear() -> None:
    world = World()
    other = World(sessions=world.sessions, users=world.users)
    asked = world.message("patient_4", message_id="m1")
    repeats, elsewhere = repeats_of(world), repeats_of(other)
    assert await repeats.fate(asked) == "unknown"
    await world.tell("patient_4", message_id="m1")
    assert await repeats.fate(asked) == await elsewhere.fate(asked) == "standing"
    await world.tell("clear", message_id="m2")
    assert await elsewhere.fate(asked) == "cleared", "whatever this replica had read before"
    assert await elsewhere.fate(world.message("clear", message_id="m2")) == "standing"
