"""Talks as tables: what a user says, a line each, and what is then told, held and asked."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from data_models.chat_context import ChatContext
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, World


class Line(BaseModel):
    """One message of a user; of what is not given nothing is asserted.

    Attributes:
        minutes: How long after the line before it is said.
        told: What the answer says; untold: what it does not.
        held: All that is held of patient_4 afterwards, in order.
        asked: All that agents were asked so far, behind the patient.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    say: str
    minutes: int = 0
    told: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    held: list[str] | None = None
    asked: list[str] | None = None


async def play(
    world: World, lines: Iterable[Line], *, store: MemoryBlobStore | None = None
) -> None:
    """Say the lines one after another, and look at what comes of each."""
    for line in lines:
        if isinstance(world.clock, FixedClock):
            world.clock.advance(5 + 60 * line.minutes)
        answer = "\n".join((await world.tell(line.say)).texts)
        assert [text for text in line.told if text not in answer] == [], (line.say, answer)
        assert [text for text in line.untold if text in answer] == [], (line.say, answer)
        if line.held is not None:
            assert store is not None
            assert held(store) == line.held, line.say
        if line.asked is not None:
            asked = [f"{one.patient_id}: {one.text}" for one in world.team.requests]
            assert asked == line.asked, line.say


def held(store: MemoryBlobStore) -> list[str]:
    """Return what is held of patient_4."""
    data = store.contents[f"{CHAT}/patient_patient_4_context.json"]
    points = ChatContext.model_validate_json(data).memory.key_points
    return [one.text for one in points if one.status == "active"]
