"""Alert rules that fire when they should, and a dashboard whose figures exist."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from services.entities.meter import EntityMeter
from tests.peers import needed

FOLDER = Path(__file__).parents[3] / "infra" / "monitoring"
RULES, TESTS = FOLDER / "entity_rules.yml", FOLDER / "entity_rules_test.yml"
_FIGURE = re.compile(r"\b((?:entity|delta|agent)_[a-z_]+?)(?:_bucket)?(?=[\[){ ]|$)")


def figures() -> set[str]:
    """The names that a server exposes."""
    registry = CollectorRegistry()
    EntityMeter(registry=registry, agents=["AppointmentManager"])
    text = generate_latest(registry).decode()
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = needed(Path(shutil.which("promtool") or "/usr/bin/promtool"), "promtool")
    return subprocess.run(
        [program, *arguments], cwd=FOLDER, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", [("check", RULES.name), ("test", TESTS.name)])
def test_promtool_accepts_the_rules_and_each_fires(command: tuple[str, str]) -> None:
    done = promtool(command[0], "rules", command[1])
    assert done.returncode == 0, done.stdout + done.stderr


def rules() -> list[dict[str, object]]:
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_rule_is_tested_and_says_what_to_turn_off() -> None:
    tested = TESTS.read_text("utf-8")
    assert [rule["alert"] for rule in rules() if f"alertname: {rule['alert']}" not in tested] == []
    assert all("turn_off" in yaml.safe_dump(rule) for rule in rules())


def test_rules_speak_of_figures_that_the_server_has() -> None:
    named = {name for rule in rules() for name in _FIGURE.findall(str(rule["expr"]))}
    assert named
    assert {name for name in named if name not in figures()} == set()


def test_the_dashboard_has_its_five_panels_over_figures_that_exist() -> None:
    dashboard = json.loads((FOLDER / "entity_dashboard.json").read_text("utf-8"))
    assert len(dashboard["panels"]) == 5
    text = " ".join(each["expr"] for panel in dashboard["panels"] for each in panel["targets"])
    named = set(_FIGURE.findall(text))
    assert named
    assert {name for name in named if name not in figures()} == set()
