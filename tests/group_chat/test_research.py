"""A model looks for published research: no patient leaves, and no abstract becomes the record."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from data_models.clock import SystemClock
from data_models.conversations.turn_events import AgentMessageFinished, ViewShown
from group_chat.tools.catalogue import TOOL_NAMES
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from services.evidence.guidelines.library import GuidelineFolder
from services.evidence.pubmed import PubMed
from services.evidence.trials.sources import StudyFolder
from services.team import RESEARCH, load_team
from tests.fakes_connected import RosterOnly
from tests.fakes_openai import Reply
from tests.given_settings import given_settings
from tests.group_chat.team_world import SAMPLES, Heard, TeamWorld, call, team_world, text
from tests.services.evidence.test_pubmed import Eutils, eutils
from tests.services.records.charts import records_in
from tests.tables import with_cases

AGENT = "MedicalResearch"
ROSTER = {"all_patient_ids": ("patient_4", "patient_15"), "mentions": (AGENT,)}
DONE = text("Please read the abstracts.")


@asynccontextmanager
async def research_world(pubmed: PubMed | None) -> AsyncIterator[TeamWorld]:
    clock = SystemClock()
    records = records_in(SAMPLES, clock)
    tools = EvidenceTools(
        guidelines=GuidelineFolder(folder=None, clock=clock),
        studies=StudyFolder(folder=None),
        records=records,
        research=pubmed,
        outside=ForeignTools(servers=(), records=records, names=RosterOnly()),
    )
    team = load_team(tools=TOOL_NAMES, switched_on=(RESEARCH,))
    async with team_world(team=team, evidence=tools) as world:
        yield world


@pytest.fixture
async def site() -> AsyncIterator[tuple[Eutils, TeamWorld]]:
    async with eutils() as (double, pubmed), research_world(pubmed) as world:
        yield double, world


async def told(world: TeamWorld, *replies: Reply) -> Heard:
    return await world.say(f"@{AGENT} what was published on her drug?", *replies, **ROSTER)


def states_of(heard: Heard) -> list[str]:
    return [one.state for one in heard.of(AgentMessageFinished)[-1].message.statements]


def last_result(world: TeamWorld) -> str:
    return str([one for one in world.prompts()[-1] if one["role"] == "tool"][-1]["content"])


@pytest.mark.slow
async def test_abstracts_are_quoted_with_their_pmid_beside_the_record(
    site: tuple[Eutils, TeamWorld],
) -> None:
    double, world = site
    heard = await told(world, call("search_pubmed", query="osimertinib EGFR"), DONE)
    (view,) = [event.view for event in heard.of(ViewShown)]
    assert view.title == "PubMed: published research, not the record"
    assert [row.sources for row in view.rows] == [("PubMed/22222222",), ("PubMed/11111111",)]
    assert "osimertinib EGFR" in view.notes[0]
    assert "PMID 11111111" in last_result(world)
    assert [one["term"] for one in double.asked if "term" in one] == ["osimertinib EGFR"]


@pytest.mark.slow
@with_cases("claim")
async def test_what_an_abstract_says_supports_no_statement_on_the_patient(
    site: tuple[Eutils, TeamWorld], claim: str
) -> None:
    _, world = site
    heard = await told(world, call("search_pubmed", query="osimertinib"), text(claim))
    assert {*states_of(heard)} in ({"unsupported"}, {"unsupported", "contradicted"})


@pytest.mark.slow
@with_cases("claim", "states")
async def test_no_statement_stands_without_the_pmid_of_an_abstract_that_was_found(
    site: tuple[Eutils, TeamWorld], claim: str, states: list[str]
) -> None:
    _, world = site
    heard = await told(world, call("search_pubmed", query="osimertinib"), text(claim))
    assert states_of(heard) == states
    assert "77777777" not in heard.of(AgentMessageFinished)[-1].message.text


@pytest.mark.slow
@with_cases("query")
async def test_a_query_that_names_a_patient_or_a_date_does_not_leave(
    site: tuple[Eutils, TeamWorld], query: str
) -> None:
    double, world = site
    heard = await told(world, call("search_pubmed", query=query), text("I cannot say."))
    assert "not leave" in last_result(world)
    assert heard.of(ViewShown) == []
    assert double.asked == []


def test_the_setting_puts_it_in_the_team_and_opens_its_host_alone() -> None:
    settings = given_settings(pubmed_base_url="https://eutils.example/entrez/eutils")
    assert AGENT in load_team(tools=TOOL_NAMES, switched_on=settings.switched_on).names
    assert "eutils.example" in settings.outbound_hosts
    assert "eutils.example" not in given_settings().outbound_hosts


@pytest.mark.slow
async def test_without_the_setting_nobody_has_it() -> None:
    assert given_settings().switched_on == []
    assert AGENT not in load_team(tools=TOOL_NAMES).names
    async with research_world(None) as world:
        await told(world, call("search_pubmed", query="osimertinib"), text("I cannot say."))
        assert "no published research is connected" in last_result(world)
