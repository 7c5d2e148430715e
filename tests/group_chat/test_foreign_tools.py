"""A model uses another system's tools in a turn: what leaves, what comes, what is believed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from data_models.clock import SystemClock
from data_models.conversations.turn_events import AgentMessageFinished, ViewShown
from group_chat.tools.catalogue import TOOL_NAMES
from group_chat.tools.foreign_tools import ForeignTools
from services.evidence.evidence_factory import ForeignServer, ForeignServers, ForeignTool
from services.evidence.foreign_client import ForeignClient, digest_of
from services.team import load_team
from tests.fakes_connected import RosterOnly
from tests.fakes_openai import Reply
from tests.group_chat.team_world import SAMPLES, Heard, TeamWorld, call, team_world, text
from tests.services.evidence.foreign.server import WARFARIN, Foreign, foreign_server
from tests.services.records.charts import records_in
from tests.tables import with_cases

pytestmark = pytest.mark.slow

AGENT = "PatientHistory"
SENT = {"registry": "patient_id", "mixed_up": "patient_id"}
ROSTER = {"all_patient_ids": ("patient_4", "patient_15"), "mentions": (AGENT,)}


@asynccontextmanager
async def world_of(
    foreign: Foreign, *, of_patient: bool, seconds: float = 20.0
) -> AsyncIterator[TeamWorld]:
    """The team, which has been given the double's tools."""
    async with aiohttp.ClientSession(trust_env=False) as session:
        client = ForeignClient(url=foreign.url, session=session, seconds=seconds)
        tools = [
            ForeignTool(
                name=one.name,
                about="What another system knows.",
                digest=digest_of(one),
                asks={} if one.name in SENT else {"drug": "The drug."},
                sends={"mrn": "patient_id"} if one.name in SENT else {},
            )
            for one in await client.list_tools()
            if (one.name in SENT) is of_patient
        ]
        server = ForeignServer(
            name="other",
            url=foreign.url,
            agents=(AGENT,),
            tools=tuple(tools),
            of_patient=of_patient,
        )
        known = ForeignTools(
            servers=[(server, client)],
            records=records_in(SAMPLES, SystemClock()),
            names=RosterOnly(),
        )
        team = load_team(tools=TOOL_NAMES).given(ForeignServers(servers=(server,)).by_agent)
        async with team_world(team=team, foreign=known) as world:
            yield world


@pytest.fixture
async def foreign() -> AsyncIterator[Foreign]:
    async with foreign_server() as running:
        yield running


async def told(world: TeamWorld, *replies: Reply) -> Heard:
    return await world.say(f"@{AGENT} what do others know?", *replies, **ROSTER)


def last_result(world: TeamWorld) -> str:
    """What the tool gave the model."""
    return str([one for one in world.prompts()[-1] if one["role"] == "tool"][-1]["content"])


def states_of(heard: Heard) -> list[str]:
    return [one.state for one in heard.of(AgentMessageFinished)[-1].message.statements]


async def test_what_it_says_is_shown_with_its_source_and_as_no_fact(foreign: Foreign) -> None:
    async with world_of(foreign, of_patient=False) as world:
        heard = await told(
            world, call("other_drug_facts", drug="warfarin"), text("Her INR is 2.5.")
        )
        given = last_result(world)
    [view] = [event.view for event in heard.of(ViewShown)]
    [source] = [one.ref for one in view.sources]
    assert source.startswith("Foreign/other-")
    assert [(row.name, row.detail) for row in view.rows] == [("According to other", WARFARIN)]
    assert WARFARIN in given
    assert source in given
    assert "another system, not the record" in given
    assert "supported" not in states_of(heard)
    assert foreign.asked == [("drug_facts", {"drug": "warfarin"})]


async def test_what_a_registry_says_of_the_patient_is_checked_like_rows_of_the_record(
    foreign: Foreign,
) -> None:
    async with world_of(foreign, of_patient=True) as world:
        right = await told(world, call("other_registry"), text("The INR was 2.4 on 2025-05-01."))
        wrong = await told(world, call("other_registry"), text("The INR was 7.8 on 2025-05-01."))
    assert states_of(right) == ["supported"]
    said = right.of(AgentMessageFinished)[-1].message.statements
    assert all(ref.startswith("Foreign/other-") for one in said for ref in one.sources)
    assert states_of(wrong) == ["unsupported"]
    assert {tuple(sorted(sent.items())) for _, sent in foreign.asked} == {(("mrn", "patient_4"),)}


@with_cases("argument")
async def test_an_argument_that_names_a_patient_stays_here(foreign: Foreign, argument: str) -> None:
    async with world_of(foreign, of_patient=False) as world:
        await told(world, call("other_drug_facts", drug=argument), text("I cannot say."))
        assert "do not leave" in last_result(world)
    assert foreign.asked == []


@with_cases("tool", "of_patient", "says")
async def test_an_answer_that_may_not_be_used_reaches_no_model_and_no_user(
    foreign: Foreign, tool: str, of_patient: bool, says: str
) -> None:
    asked = {} if of_patient else {"drug": "warfarin"}
    async with world_of(foreign, of_patient=of_patient) as world:
        heard = await told(
            world, call(f"other_{tool}", **asked), text("The other system gave nothing usable.")
        )
        given = last_result(world)
    assert says in given
    assert "9.9" not in given
    assert "yesterday" not in given
    assert heard.of(ViewShown) == []
    assert heard.speakers == [AGENT]


async def test_a_turn_goes_on_without_a_server_that_hangs(foreign: Foreign) -> None:
    async with world_of(foreign, of_patient=False, seconds=0.5) as world:
        heard = await told(
            world, call("other_hanging", drug="warfarin"), text("It does not answer just now.")
        )
        assert "did not answer within 0.5 seconds" in last_result(world)
    assert heard.said == [(AGENT, "It does not answer just now.")]


async def test_an_agent_that_was_not_given_the_tool_has_none(foreign: Foreign) -> None:
    async with world_of(foreign, of_patient=False) as world:
        heard = await world.say(
            "@Radiology look it up",
            call("other_drug_facts", drug="warfarin"),
            text("I have no such tool."),
            mentions=("Radiology",),
        )
    assert foreign.asked == []
    assert heard.speakers == ["Radiology"]
