"""Whole turns while the directory is slow or down: no chart speaks for a name not looked up."""

import asyncio

import pytest

from data_models.conversations.incoming_message import Sender
from data_models.errors import RecordsUnavailableError
from services.identity.directory import DirectoryState, Sought
from services.identity.linking import SubjectLinker
from services.identity.names.index import PersonIndex
from services.identity.names.person import Person, PersonName
from services.patient_context.reading.pattern import DEFAULT_PATTERN, PatientIdPattern
from tests.services.world import Heard, World, heard

PATTERN = PatientIdPattern.compile(DEFAULT_PATTERN)


class Failing:
    """A directory that answers until it is told not to."""

    state: DirectoryState = "ok"

    def __init__(self) -> None:
        self.fault = ""

    async def people_for(self, sought: Sought) -> PersonIndex:
        if self.fault == "down":
            raise RecordsUnavailableError("down")
        if self.fault == "slow":
            await asyncio.Event().wait()
        names = (PersonName("Whitfield", ("Margaret",), ""),)
        found = PATTERN.canonical("patient_4", ())
        return PersonIndex(people=[Person(found, "key-4", names, birth_date="1957-03-14")])

    async def check(self) -> None:
        await self.people_for(Sought())


async def say(world: World, text: str, channel: str) -> Heard:
    if channel == "web":
        return await world.say(text)
    message = world.message(text, owner="bot:msteams:t").model_copy(
        update={
            "channel": "bot",
            "channel_id": "msteams",
            "is_group": True,
            "sender": Sender(principal_id="user:anna", display_name="Anna"),
        }
    )
    return await heard(await world.scheduler.submit(message))


@pytest.mark.parametrize("fault", ["slow", "down"])
@pytest.mark.parametrize("channel", ["web", "bot"])
async def test_a_name_that_cannot_be_looked_up_is_asked_about_and_no_agent_runs(
    fault: str, channel: str
) -> None:
    directory = Failing()
    linker = SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=0.01)
    world = World(linker=linker)
    await say(world, "open patient_4", channel)
    directory.fault = fault

    asked = await say(world, "what is Georg Hartmann's stage?", channel)
    before = len(world.team.requests)
    chosen = await say(world, "1", channel)

    assert before == 0
    assert "Margaret Whitfield, born 1957-03-14 (patient_4)" in asked.texts[-1]
    assert len(world.team.requests) == 1, chosen.texts
    assert "Georg Hartmann's stage" in world.team.requests[0].text


@pytest.mark.parametrize("fault", ["slow", "down"])
async def test_what_names_nobody_goes_on_and_a_new_number_opens_nothing(fault: str) -> None:
    directory = Failing()
    linker = SubjectLinker(directory=directory, fits=PATTERN.matches, seconds=0.01)
    world = World(linker=linker)
    await world.say("open patient_4")
    directory.fault = fault

    await world.say("what is her stage?")
    refused = await world.say("open patient_7")

    assert [one.patient_id for one in world.team.requests] == ["patient_4"]
    assert "could not be looked up" in refused.texts[-1]
