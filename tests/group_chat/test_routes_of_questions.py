"""Whose work a question about the chart is, with the shipped team and with one agent more."""

import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
import yaml

from services.language.reading import read
from services.language.utterance import Situation, TeamMember
from services.team import TEAM_FILE, AgentSpec, card_of
from tests.tables import tables_beside

GUIDE = Path(__file__).parents[2] / "docs" / "agents.md"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@cache
def shipped() -> list[AgentSpec]:
    agents = yaml.safe_load(TEAM_FILE.read_text(encoding="utf-8"))["agents"]
    return [AgentSpec.model_validate(each) for each in agents]


@cache
def of_the_guide() -> list[AgentSpec]:
    text = GUIDE.read_text(encoding="utf-8")
    block = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0]
    return [AgentSpec.model_validate(each) for each in yaml.safe_load(block)]


def first_of(text: str, agents: list[AgentSpec]) -> str | None:
    cards = [card_of(spec) for spec in agents]
    team = tuple(TeamMember(c.name, c.tools, c.answers, c.is_facilitator) for c in cards)
    return read(text, Situation(now=NOW, team=team)).agent


QUESTIONS: dict[str, str] = tables_beside(Path(__file__))["questions"]


@pytest.mark.slow
@pytest.mark.parametrize("text", QUESTIONS)
def test_the_agent_of_the_guide_changes_no_other_questions_route(text: str) -> None:
    assert first_of(text, shipped()) == QUESTIONS[text]
    assert first_of(text, [*shipped(), *of_the_guide()]) == QUESTIONS[text]
    assert first_of(text, [*of_the_guide(), *shipped()]) == QUESTIONS[text]


@pytest.mark.parametrize("text", ["I have a headache", "hello", "start tumor board"])
def test_what_asks_nothing_of_the_chart_has_no_agent_of_it(text: str) -> None:
    assert first_of(text, shipped()) is None
