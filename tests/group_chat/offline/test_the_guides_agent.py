"""The agent of the guide, added as it stands there, takes no other agent's questions offline."""

from pathlib import Path

import pytest

from group_chat.tools.catalogue import TOOL_NAMES
from services.team import TEAM_FILE, Team, load_team
from tests.group_chat.offline.conftest import conversation
from tests.group_chat.test_adding_an_agent import documented_example
from tests.tables import tables_beside

QUESTIONS: tuple[str, ...] = tuple(tables_beside(Path(__file__))["questions"])


@pytest.fixture(scope="module")
def widened(tmp_path_factory: pytest.TempPathFactory) -> Team:
    edited: Path = tmp_path_factory.mktemp("team") / "team.yaml"
    edited.write_text(TEAM_FILE.read_text(encoding="utf-8") + documented_example(), "utf-8")
    return load_team(edited, tools=TOOL_NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
async def test_the_guides_agent_changes_no_route(question: str, widened: Team) -> None:
    speakers = []
    for team in (None, widened):
        talk = conversation(team=team)
        speakers.append((await talk.say(question)).speakers)
    assert speakers[0] == speakers[1]
