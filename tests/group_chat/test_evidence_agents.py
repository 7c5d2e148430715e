"""A model at work as ClinicalTrials and ClinicalGuidelines, through the real client and tools."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from data_models.chart_view import ChartView
from data_models.clock import SystemClock
from data_models.conversations.turn_events import AgentMessageFinished, ViewShown
from data_models.errors import RecordsUnavailableError
from group_chat.tools.evidence_tools import EvidenceTools
from group_chat.tools.foreign_tools import ForeignTools
from services.evidence.guidelines.library import GuidelineFolder
from services.evidence.trials.sources import StudyFolder, StudySource
from services.records.resources.ports import PatientRecords
from tests.fakes import GivenRecords
from tests.fakes_connected import RosterOnly
from tests.fakes_openai import Reply
from tests.group_chat.team_world import SAMPLES, Heard, TeamWorld, call, team_world, text
from tests.services.evidence.trials.test_register import register
from tests.services.records.charts import records_in
from tests.tables import with_cases

SHIPPED = Path(__file__).parents[2] / "samples"
TRIALS, GUIDELINES = "ClinicalTrials", "ClinicalGuidelines"


@asynccontextmanager
async def evidence_world(
    studies: StudySource | None = None, records: PatientRecords | None = None
) -> AsyncIterator[TeamWorld]:
    clock = SystemClock()
    own = records or records_in(SAMPLES, clock)
    tools = EvidenceTools(
        guidelines=GuidelineFolder(folder=SHIPPED / "guidelines", clock=clock),
        studies=studies or StudyFolder(folder=SHIPPED / "studies"),
        records=own,
        outside=ForeignTools(servers=(), records=own, names=RosterOnly()),
        country="Germany",
    )
    async with team_world(evidence=tools) as world:
        yield world


@pytest.fixture
async def world() -> AsyncIterator[TeamWorld]:
    async with evidence_world() as made:
        yield made


async def told(world: TeamWorld, agent: str, *replies: Reply) -> Heard:
    return await world.say(f"@{agent} what fits her?", *replies, mentions=(agent,))


def view_of(heard: Heard) -> ChartView:
    (shown,) = [event.view for event in heard.of(ViewShown)]
    return shown


def last_result(world: TeamWorld) -> str:
    """What the tool gave the model."""
    return str([one for one in world.prompts()[-1] if one["role"] == "tool"][-1]["content"])


@pytest.mark.slow
async def test_the_lead_hands_trials_and_guidelines_to_their_agents(world: TeamWorld) -> None:
    for agent, tool, arguments in (
        (TRIALS, "clinical_trials", {}),
        (GUIDELINES, "search_guidelines", {"question": "potassium replacement"}),
    ):
        heard = await world.say(
            "Please ask whoever can answer that.",
            text(f"*{agent}* please look it up. Back to me then."),
            call(tool, **arguments),
            text("I looked it up. Back to you *Orchestrator*."),
            text("That is all."),
        )
        assert agent in heard.speakers


@pytest.mark.slow
async def test_a_model_is_given_each_criterion_with_verdict_and_row(world: TeamWorld) -> None:
    heard = await told(world, TRIALS, call("clinical_trials"), text("See the table."))
    given = last_result(world)
    view = view_of(heard)
    criteria = [row for row in view.rows if row.kind == "criterion"]
    assert criteria
    for row in criteria:
        assert row.status in ("met", "not met", "unknown")
        assert row.detail, "the row of the chart, or what is missing"
        assert row.name in given
    assert "nothing was sent" in given
    known = {one.ref for one in view.sources}
    assert [ref for row in view.rows for ref in row.sources if ref not in known] == []


@pytest.mark.slow
async def test_a_wrong_value_beside_a_study_is_held_back_once_the_chart_was_looked_at(
    world: TeamWorld,
) -> None:
    heard = await told(
        world,
        TRIALS,
        call("clinical_trials"),
        call("current_status"),
        text("Her ECOG is 4 [Observation/ecog-3]."),
        text("Her ECOG is 1 [Observation/ecog-3]."),
    )
    message = heard.of(AgentMessageFinished)[-1].message
    assert "ECOG is 4" not in message.text
    assert [(one.state, one.record_says != "") for one in message.statements] == [
        ("supported", False),
        ("contradicted", True),
    ]


@pytest.mark.slow
@with_cases("said")
async def test_what_a_study_asks_for_never_supports_a_statement_on_the_patient(
    world: TeamWorld, said: str
) -> None:
    heard = await told(world, TRIALS, call("clinical_trials"), text(said))
    message = heard.of(AgentMessageFinished)[-1].message
    assert "supported" not in [one.state for one in message.statements]
    assert message.statements, "it is marked as what no row says"


@pytest.mark.slow
async def test_a_model_quotes_a_guideline_with_section_and_version(world: TeamWorld) -> None:
    heard = await told(
        world,
        GUIDELINES,
        call("search_guidelines", question="potassium replacement"),
        text("See the passages."),
    )
    rows = view_of(heard).rows
    assert rows
    given = last_result(world)
    for row in rows:
        assert row.sources
        assert row.sources[0] in given
    assert any("version" in f"{row.value} {row.status} {row.detail}".casefold() for row in rows)


@pytest.mark.slow
async def test_the_passages_stand_beside_whatever_a_model_makes_of_them(world: TeamWorld) -> None:
    wrong = "Our guideline says at most 40 mmol an hour [Guideline/potassium-v2-md.2]."
    question = "potassium replacement"
    heard = await told(world, GUIDELINES, call("search_guidelines", question=question), text(wrong))
    assert "at most 10 mmol an hour" in str(view_of(heard).rows)


async def test_a_dose_of_a_guideline_is_not_told_as_the_patients(world: TeamWorld) -> None:
    said = "She takes 10 mmol of potassium an hour."
    heard = await told(
        world, GUIDELINES, call("search_guidelines", question="potassium replacement"), text(said)
    )
    message = heard.of(AgentMessageFinished)[-1].message
    assert [one.state for one in message.statements] == ["unsupported"]


async def test_where_no_guideline_says_it_the_model_gets_that_sentence(world: TeamWorld) -> None:
    heard = await told(
        world,
        GUIDELINES,
        call("search_guidelines", question="sepsis in pregnancy"),
        text("The guidelines here do not answer that."),
    )
    assert "The guidelines here do not answer that." in last_result(world)
    assert [row for event in heard.of(ViewShown) for row in event.view.rows] == []
    assert "do not answer that" in heard.said[-1][1]


@pytest.mark.slow
async def test_only_the_search_of_the_settings_leaves_whatever_the_model_asks_for() -> None:
    async with AsyncExitStack() as stack:
        double, studies = await stack.enter_async_context(register())
        world = await stack.enter_async_context(evidence_world(studies))
        await told(world, TRIALS, call("clinical_trials"), text("See the table."))
        (sent,) = double.asked
        said = " ".join(sent.values())
        for word in ("Whitfield", "Margaret", "patient_4", "1957", "SYN-000004"):
            assert word not in said
        assert sent["query.locn"] == "Germany"
        given = last_result(world)
        assert "sent to" in given
        double.asked.clear()
        # A model that tries to send words of its own is refused, and nothing leaves.
        await told(
            world,
            TRIALS,
            call("clinical_trials", query="Margaret Whitfield born 1957"),
            text("I could not search with that."),
        )
        assert double.asked == []


@pytest.mark.slow
async def test_a_topic_is_quoted_where_the_chart_cannot_be_read() -> None:
    async with evidence_world(records=GivenRecords(RecordsUnavailableError("no answer"))) as world:
        asked = call("search_guidelines", question="potassium replacement")
        view = view_of(await told(world, GUIDELINES, asked, text("See the passages.")))
        assert {row.kind for row in view.rows} == {"guideline"}
        assert any("chart could not be read" in note for note in view.notes)
        asked = call("search_guidelines", question="what is said for this patient?")
        await told(world, GUIDELINES, asked, text("I cannot tell."))
        assert "error" in last_result(world)
