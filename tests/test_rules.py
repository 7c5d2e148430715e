"""What code and tests cite as a rule stands in `docs/rules.md`."""

import re
from functools import cache
from pathlib import Path

import pytest

from scripts.rules_index import CITED_PAGE, HEADING, RULE, prose_of, rules_of, sections_of

ROOT = Path(__file__).parent.parent
RULES = (ROOT / "docs" / "rules.md").read_text("utf-8")
FOLDERS = (
    "bench",
    "bots",
    "data_models",
    "evals",
    "group_chat",
    "legacy",
    "routes",
    "services",
    "tests",
)
INDEXED = re.compile(r"^- (\w+): (.+)$", re.MULTILINE)


@cache
def files() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return [path for path in found if "node_modules" not in path.parts]


@pytest.mark.slow
def test_every_page_that_is_cited_has_its_part_in_the_rules() -> None:
    known = sections_of(RULES)
    cited = {
        (path.relative_to(ROOT).as_posix(), page)
        for path in files()
        for page in CITED_PAGE.findall(prose_of(path))
    }
    assert {one for one in cited if one[1] not in known} == set()
    assert len(cited) > 20


@pytest.mark.slow
def test_every_rule_that_is_cited_stands_in_the_rules() -> None:
    known = rules_of(RULES)
    cited = {
        (path.relative_to(ROOT).as_posix(), rule)
        for path in files()
        for rule in RULE.findall(prose_of(path))
    }
    assert {one for one in cited if one[1] not in known} == set()
    assert len(cited) > 20


def test_rules_are_numbered_once() -> None:
    lines = re.findall(rf"^- \*\*({RULE.pattern})\*\*", RULES, re.MULTILINE)
    assert sorted(lines) == sorted(set(lines))


@pytest.mark.parametrize(("rule", "listed"), INDEXED.findall(RULES.partition(HEADING)[2]))
def test_a_test_that_is_listed_cites_its_rule(rule: str, listed: str) -> None:
    for name in re.findall(r"`([^`]+)`", listed):
        assert rule in RULE.findall(prose_of(ROOT / name))
