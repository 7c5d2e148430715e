"""Alerts fire when they should, every figure they name exists, and each has a runbook."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from services.entities.meter import EntityMeter
from services.scenarios.migration.case import MigrationMeter
from services.scenarios.scenario_settings import MigrationConfig
from services.telemetry import metrics
from services.telemetry.metrics import Figures, Metrics
from tests.peers import needed

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "infra" / "monitoring"
RULES = sorted(FOLDER.glob("*_rules.yml"))
DASHBOARDS = sorted(FOLDER.glob("*_dashboard.json"))
RUNBOOKS = ROOT / "docs" / "operations.md"
_FIGURE = re.compile(r"\b((?:rounds|migration|entity|delta|agent|process)_[a-z_]+)\b")
_CODE = re.compile(r'code="(\w+)"')


def figures() -> set[str]:
    """The names that a server exposes, those of histograms' parts included."""
    registry = CollectorRegistry()
    Metrics(registry=registry)
    EntityMeter(registry=registry, agents=["AppointmentManager"])
    MigrationMeter(registry=registry, config=MigrationConfig())
    Figures(part="plans", registry=registry)
    text = generate_latest(registry).decode()
    types = [line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE")]
    parts = {
        f"{name}_{part}"
        for name, kind in types
        if kind == "histogram"
        for part in ("bucket", "count", "sum")
    }
    return {name for name, _ in types} | parts


def rules() -> list[dict[str, object]]:
    groups = [group for path in RULES for group in yaml.safe_load(path.read_text())["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def named(expressions: str) -> set[str]:
    return set(_FIGURE.findall(expressions))


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES, ids=lambda path: path.stem)
def test_promtool_accepts_the_rules_and_each_fires(rules: Path) -> None:
    program = needed(Path(shutil.which("promtool") or "/usr/bin/promtool"), "promtool")
    for command, file in (("check", rules.name), ("test", f"{rules.stem}_test.yml")):
        asked = [str(program), command, "rules", file]
        done = subprocess.run(asked, cwd=FOLDER, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_is_tested_and_one_of_entities_says_what_to_turn_off() -> None:
    tested = "".join(path.read_text("utf-8") for path in FOLDER.glob("*_rules_test.yml"))
    assert [rule["alert"] for rule in rules() if f"alertname: {rule['alert']}" not in tested] == []
    of_entities = yaml.safe_load((FOLDER / "entity_rules.yml").read_text("utf-8"))["groups"]
    assert all("turn_off" in yaml.safe_dump(one) for group in of_entities for one in group["rules"])


def test_rules_speak_of_figures_and_errors_that_the_server_has() -> None:
    text = " ".join(str(rule["expr"]) for rule in rules())
    assert len(named(text)) > 15
    assert named(text) <= figures()
    assert set(_CODE.findall(text)) <= metrics._CODES


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboards_show_figures_that_the_server_has(path: Path) -> None:
    dashboard = json.loads(path.read_text("utf-8"))
    panels = dashboard["panels"]
    shown = named(" ".join(each["expr"] for panel in panels for each in panel["targets"]))
    assert len(panels) >= 5
    assert shown
    assert shown <= figures()
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_every_figure_of_turns_and_migrations_is_on_a_dashboard() -> None:
    text = "".join(path.read_text("utf-8") for path in DASHBOARDS)
    shown = {re.sub(r"_(bucket|count|sum)$", "", name) for name in named(text)}
    whole = {re.sub(r"_(bucket|count|sum)$", "", name) for name in figures()}
    # Figures of single steps, for whoever looks into one.
    rest = {"migration_application_duration_ms", "migration_plan_generation_duration_ms"}
    rest |= {"migration_gap_fills_total", "rounds_tool_memory_extractor_failures_total"}
    missing = {name for name in whole - shown - rest if name.startswith(("rounds_", "migration_"))}
    assert {name for name in missing if not name.endswith("_created")} == set()


def test_every_alert_has_a_runbook() -> None:
    headings = re.findall(r"^### (\w+)$", RUNBOOKS.read_text("utf-8"), re.MULTILINE)
    alerts = [str(rule["alert"]) for rule in rules()]
    assert len(set(alerts)) == len(alerts)
    assert set(alerts) - set(headings) == set()


def test_the_deployed_rules_are_these() -> None:
    text = (ROOT / "infra" / "modules" / "alerts.bicep").read_text("utf-8")
    assert set(re.findall(r"monitoring/(\w+\.yml)", text)) == {path.name for path in RULES}
    for rule in rules():
        assert re.fullmatch(r"\d+[mh]", str(rule.get("for", "1m"))), "Azure takes PT5M and PT1H"
        assert dict(rule["labels"])["severity"] in {"critical", "warning", "info"}  # type: ignore[call-overload]


def test_the_collector_reads_the_server_beside_it() -> None:
    collector = yaml.safe_load((FOLDER / "collector.yml").read_text("utf-8"))
    assert set(collector["service"]["pipelines"]) == {"traces", "metrics"}
    declared = {kind: set(collector[kind]) for kind in ("receivers", "processors", "exporters")}
    for pipeline in collector["service"]["pipelines"].values():
        for kind, names in declared.items():
            assert set(pipeline[kind]) <= names
    server = (ROOT / "infra" / "modules" / "server.bicep").read_text("utf-8")
    variables = set(re.findall(r"\$\{env:(\w+)\}", (FOLDER / "collector.yml").read_text("utf-8")))
    assert variables
    assert {name for name in variables if f"'{name}'" not in server} == set()
