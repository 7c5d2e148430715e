"""An operator adds an agent by editing the team file, and by nothing else."""

from pathlib import Path

import pytest

from group_chat.tools.catalogue import TOOL_NAMES, catalogue
from services.team import TEAM_FILE, load_team
from tests.fakes import CountingIds, FixedClock
from tests.fakes_connected import connected_in
from tests.group_chat.team_world import SAMPLES, call, propose, team_world, text
from tests.services.records.charts import records_in

DOCUMENTED = Path(__file__).parents[2] / "docs" / "agents.md"


def documented_example() -> str:
    """The agent that docs/agents.md shows, as it stands there."""
    return DOCUMENTED.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]


@pytest.mark.slow
async def test_the_agent_of_the_guide_joins_plans_and_is_handed_to(tmp_path: Path) -> None:
    edited = tmp_path / "team.yaml"
    edited.write_text(TEAM_FILE.read_text(encoding="utf-8") + documented_example(), "utf-8")
    async with team_world(team=load_team(edited, tools=TOOL_NAMES)) as world:
        assert [card.name for card in world.chat.agents][-1] == "Medication"
        heard = await world.say("start", propose(("Medication", "List the drugs")))
        heard = await world.say(
            "yes", call("timeline"), text("Osimertinib."), text("Bye."), plan=heard.plan
        )
        assert heard.speakers == ["Orchestrator", "Medication", "Orchestrator"]
        leader, member = world.prompts()[0][0]["content"], world.prompts()[1][0]["content"]
    assert "*Medication*: Drugs, doses and interactions" in leader
    assert "{team}" not in leader
    assert "You are Medication" in member


@pytest.mark.slow
async def test_braces_in_instructions_mean_nothing(tmp_path: Path) -> None:
    edited = tmp_path / "team.yaml"
    agent = documented_example().replace("You are Medication.", "You are {{$secret}} {x}.")
    edited.write_text(TEAM_FILE.read_text(encoding="utf-8") + agent, "utf-8")
    async with team_world(team=load_team(edited, tools=TOOL_NAMES)) as world:
        await world.say("@Medication hello", text("Hello."))
        assert "You are {{$secret}} {x}." in world.prompts()[0][0]["content"]


def test_the_guide_names_every_tool_and_the_names_are_the_catalogues() -> None:
    clock = FixedClock()
    records = records_in(SAMPLES, clock)
    built = catalogue(
        records=records,
        names=("Orchestrator",),
        clock=clock,
        ids=CountingIds(),
        is_language_model=True,
        connected=connected_in(records, clock),
    )
    assert tuple(built) == TOOL_NAMES
    guide = DOCUMENTED.read_text(encoding="utf-8")
    assert [name for name in TOOL_NAMES if f"`{name}`" not in guide] == []
