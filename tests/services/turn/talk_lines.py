"""Talks as tables: what a user says, a line each, and what is then told, held and asked."""

from collections.abc import Awaitable, Callable, Iterable
from itertools import product

from pydantic import BaseModel, ConfigDict

from data_models.chat_context import ChatContext
from data_models.conversations.turn_events import Notice
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, Heard, World


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


class Talk(BaseModel):
    """What is said, and what then came of it; of what is not given nothing is asserted.

    Attributes:
        say: A list within it: each of these in turn, and "{}" stands for it in what comes of it.
        people: Who is in the directory, as the test that plays it reads it.
        asked: All that agents were asked, behind the patient; unasked: what they were not.
        told: What the last answer says, with its notices; untold: what it does not.
        notices: The notices of the last message.
        history: What users said before, as the agents were shown it last.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    say: tuple[str | tuple[str, ...], ...]
    people: str = ""
    asked: list[str] | None = None
    unasked: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    notices: str | None = None
    history: list[str] | None = None


async def play_talk(
    talk: Talk,
    world_of: Callable[[], World],
    tell: Callable[[World, str], Awaitable[Heard]] = World.tell,
) -> None:
    """Say the talk in each of its wordings, in a world of its own, and look at what came of it."""
    choices = [(one,) if isinstance(one, str) else one for one in talk.say]
    chosen = next((place for place, one in enumerate(choices) if len(one) > 1), 0)
    for said in product(*choices):
        world = world_of()
        heard = [await tell(world, text) for text in said][-1]
        told = "\n".join([notices(heard), *heard.texts])
        asked = [f"{one.patient_id}: {one.text}" for one in world.team.requests]
        expected = [one.replace("{}", said[chosen]) for one in (talk.asked or ())]
        assert talk.asked is None or asked == expected, said
        assert [one for one in talk.unasked if one in "\n".join(asked)] == [], said
        assert [one for one in talk.told if one not in told] == [], (said, told)
        assert [one for one in talk.untold if one in told] == [], (said, told)
        assert talk.notices in (None, notices(heard)), said
        if talk.history is not None:
            kept = [turn.user_message for turn in world.team.requests[-1].history]
            assert kept == [one.replace("{}", said[chosen]) for one in talk.history], said


def notices(one: Heard) -> str:
    """Return what was told beside the answer."""
    return "\n".join(event.text for event in one.events if isinstance(event, Notice))


def held(store: MemoryBlobStore) -> list[str]:
    """Return what is held of patient_4."""
    data = store.contents[f"{CHAT}/patient_patient_4_context.json"]
    points = ChatContext.model_validate_json(data).memory.key_points
    return [one.text for one in points if one.status == "active"]
