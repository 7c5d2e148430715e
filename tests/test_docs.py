"""The documents for people name what there is, and what they name is there."""

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from data_models import errors
from routes.requests.endpoint import document
from routes.server import endpoints
from routes.static_client import StaticClient
from settings import Settings
from tests.e2e.server import running_server
from tests.e2e.talks import talking
from tests.tables import tables_beside

ROOT = Path(__file__).parent.parent
README, CHANGELOG = ROOT / "README.md", ROOT / "CHANGELOG.md"
DOCS, DECISIONS = ROOT / "docs", ROOT / "docs" / "adr"
PAGES = sorted([README, CHANGELOG, ROOT / "samples" / "README.md", *DOCS.rglob("*.md")])
LAYERS = ("bots", "data_models", "group_chat", "routes", "services")
FIRST_SCREEN_LINES = 20

_LINK = re.compile(r"\[[^\]\[]*\]\(([^()\s]+)\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_MAKE = re.compile(r"\bmake ([a-z][a-z-]*)")
_MODULE = re.compile(r"-m ((?:scripts|services|bench)[\w.]*)")
_SETTING = re.compile(r"\b([A-Z][A-Z0-9_]+|Microsoft\w+)=")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_RULE = re.compile(r"\bM\d{1,2}\b")
_CODE_ROW = re.compile(r"^\| `(\w+)` \| (\d{3}) \| (yes|no) \|", re.MULTILINE)
_USER_ROW = re.compile(r"^\| \*\*(.+?)\*\* \| (.+) \|$", re.MULTILINE)
_TOUR_STEP = re.compile(r"^\d\. (.*?)(?=^\d\. |\Z)", re.MULTILINE | re.DOTALL)


def page(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def anchors(path: Path) -> set[str]:
    """The anchors that a page's headings make, as code hosts make them."""
    titles = _HEADING.findall(_FENCED.sub("", page(path)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(path: Path) -> Iterator[str]:
    """Every link of the page that stays within the repository."""
    for inline, defined in _LINK.findall(_FENCED.sub("", page(path))):
        target = inline or defined
        if not re.match(r"[a-z]+:", target):
            yield target


def packages() -> Iterator[str]:
    """Every package of the server, and every other folder with programs of ours."""
    for layer in LAYERS:
        for marker in (ROOT / layer).rglob("__init__.py"):
            yield name(marker.parent).replace("/", ".")
    yield from ("bench", "evals", "infra", "legacy", "samples", "scripts", "tests", "web")


def error_classes() -> list[type[errors.RoundsError]]:
    return [
        found
        for _, found in inspect.getmembers(errors, inspect.isclass)
        if issubclass(found, errors.RoundsError)
    ]


@cache
def functions(path: Path) -> set[str]:
    tree = ast.parse(page(path))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", page(ROOT / "Makefile"), re.MULTILINE))


def tour() -> list[tuple[str, list[str]]]:
    """What the README's tour says in each step, and which answers it promises."""
    text = page(README).split("\n## A tour")[1].split("\n## ")[0]
    steps = []
    for step in _TOUR_STEP.findall(text):
        said = re.findall(r"\*\*(.+?)\*\*", step.splitlines()[0])[-1]
        quoted = re.findall(r"^   > (.+)$", step, re.MULTILINE)
        steps.append((said, quoted))
    return steps


def test_the_architecture_names_every_package() -> None:
    text = page(DOCS / "architecture.md")
    assert [one for one in packages() if f"`{one}`" not in text] == []


def test_the_api_names_every_error_with_its_status_and_whether_to_try_again() -> None:
    told = {
        code: (int(status), again)
        for code, status, again in _CODE_ROW.findall(page(DOCS / "api.md"))
    }
    true = {
        one.code: (one.http_status, "yes" if one.retryable else "no") for one in error_classes()
    }
    assert told == true


@pytest.mark.slow
def test_the_api_names_every_route() -> None:
    text = page(DOCS / "api.md")
    assert [
        path for path in document(endpoints(StaticClient()))["paths"] if f" {path}`" not in text
    ] == []


def test_both_commands_stand_on_the_first_screen_for_both_systems() -> None:
    screen = "\n".join(page(README).splitlines()[:FIRST_SCREEN_LINES])
    for command in (
        "`make run`",
        "`make test`",
        "scripts.bootstrap runtime",
        "scripts.bootstrap dev",
    ):
        assert command in screen


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_commands_are_there(path: Path) -> None:
    written = " ".join(re.findall(r"`[^`\n]+`|^    .+$", page(path), re.MULTILINE))
    assert set(_MAKE.findall(written)) <= make_targets()
    for module in _MODULE.findall(written):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    broken = []
    for link in links(path):
        place, _, anchor = unquote(link).partition("#")
        target = (path.parent / place).resolve() if place else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("path", [README, DOCS / "api.md", DOCS / "security.md"], ids=name)
def test_settings_that_are_told_to_set_exist(path: Path) -> None:
    known = {str(field.alias) for field in Settings.model_fields.values()}
    code = " ".join(re.findall(r"`[^`\n]+`|^    .+$", page(path), re.MULTILINE))
    assert set(_SETTING.findall(code)) - {"ARGS", "PYTHON", "UPGRADE"} <= known


@pytest.mark.slow
def test_every_proof_in_the_threat_table_is_a_test() -> None:
    text = page(DOCS / "security.md")
    proofs = _TEST.findall(text)
    absent = [
        f"{file}::{test}"
        for file, test in proofs
        if not (ROOT / file).exists() or test not in functions(ROOT / file)
    ]
    assert absent == []
    rows = {
        number: line
        for line in text.splitlines()
        if (number := "".join(re.findall(r"^\| (R\d+) \|", line)))
    }
    without = {20, 37, 40, 45, 55}  # held by their neighbours
    assert list(rows) == [f"R{number}" for number in range(1, 57) if number not in without]
    assert [number for number, row in rows.items() if not _TEST.search(row)] == []


@pytest.mark.slow
def test_every_rule_of_migration_is_told_and_tested() -> None:
    rules = re.findall(r"^\| (M\d+) \|", page(DOCS / "migrations.md"), re.MULTILINE)
    assert rules == [f"M{number}" for number in range(1, 21)]
    parts = (ROOT / "services" / "scenarios", ROOT / "services" / "turn")
    named = {
        rule for part in parts for each in part.glob("*.py") for rule in _RULE.findall(page(each))
    }
    assert named <= set(rules)
    tests = [test for path in (ROOT / "tests").rglob("test_*.py") for test in functions(path)]
    sessions = tables_beside(ROOT / "tests/services/scenarios/test_migration_rules.py")
    tests += [name.replace(" ", "_") for rows in sessions.values() for name in rows]
    untested = [rule for rule in rules if not any(f"{rule.lower()}_" in test for test in tests)]
    assert untested == []


def test_decisions_are_numbered_listed_and_whole() -> None:
    records = sorted(DECISIONS.glob("[0-9]*.md"))
    numbers = [int(path.name[:4]) for path in records]
    assert len(set(numbers)) == len(numbers)  # written side by side, so there are gaps
    assert {path.name for path in records} <= set(links(DECISIONS / "README.md"))
    parts = _HEADING.findall(page(DECISIONS / "template.md"))[1:]
    assert parts == ["Context", "Decision", "Consequences"]
    for path in records:
        title, *headings = _HEADING.findall(page(path))
        assert title.startswith(f"{int(path.name[:4])}. ")
        assert headings == parts
        assert re.search(r"^Status: (proposed|accepted|superseded by \[)", page(path), re.MULTILINE)


def test_the_changelog_says_what_the_version_holds() -> None:
    version = tomllib.loads(page(ROOT / "pyproject.toml"))["project"]["version"]
    headings = _HEADING.findall(page(CHANGELOG))
    assert "[Unreleased]" in headings
    released = [title for title in headings if re.match(r"\[\d", title)]
    assert not released or released[0].startswith(f"[{version}]")


@pytest.mark.slow
async def test_the_tour_is_answered_as_the_readme_says(tmp_path: Path) -> None:
    steps = tour()
    assert len(steps) == 7
    with running_server(tmp_path, LLM_PROVIDER="offline") as server:
        async with talking(server.url, "plain") as talk:
            for said, quoted in steps:
                answer = await talk.say(said, last_words="")
                assert answer.failure is None
                lines = answer.text.splitlines()
                assert [line for line in quoted if line not in lines] == [], said


@pytest.mark.slow
async def test_every_line_of_the_users_page_is_answered_as_it_says(tmp_path: Path) -> None:
    rows = _USER_ROW.findall(page(DOCS / "user.md"))
    assert len(rows) > 20
    with running_server(tmp_path, LLM_PROVIDER="offline") as server:
        async with talking(server.url, "plain") as talk:
            for said, promised in rows:
                answer = await talk.say(said, last_words="")
                assert answer.failure is None
                told = " ".join([answer.text, *answer.notices])
                assert [
                    one for one in re.findall(r'"([^"]+)"', promised) if one not in told
                ] == [], said


def test_the_glossary_explains_what_a_reader_needs_and_where_it_stands() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| `([^`]+)` \|$", page(DOCS / "glossary.md"), re.MULTILINE
    )
    words = [word for word, _, _ in rows]
    assert len(words) >= 40
    assert words == sorted(words, key=str.casefold)
    assert [file for _, _, file in rows if not (ROOT / file).is_file()] == []
