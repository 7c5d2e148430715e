import subprocess
import sys
from pathlib import Path

import pytest

from data_models.errors import ConfigurationError
from group_chat.tools.catalogue import TOOL_NAMES
from services.team import load_team

ROOT = Path(__file__).parents[2]
LEADER = "  - {name: Lead, facilitator: true, description: leads, instructions: lead}\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "team.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_team_is_usable_and_led_by_the_orchestrator() -> None:
    team = load_team(tools=TOOL_NAMES)
    assert team.names == (
        "Orchestrator",
        "PatientHistory",
        "PatientStatus",
        "Radiology",
        "Pathology",
        "ClinicalGuidelines",
        "ClinicalTrials",
        "ReportCreation",
        "AppointmentManager",
        "Registration",
        "Secretary",
        "GeneralHealth",
        "MentalHealth",
    )
    assert all(agent.tools for agent in team.agents)
    assert team.facilitator.name == "Orchestrator"


def test_agents_for_complaints_promise_no_diagnosis_and_point_to_a_clinician() -> None:
    agents = {agent.name: agent for agent in load_team(tools=TOOL_NAMES).agents}
    for name in ("GeneralHealth", "MentalHealth"):
        assert "Make no diagnosis" in agents[name].instructions
        assert "clinician" in agents[name].instructions
        assert "search_record" in agents[name].tools


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "team.yaml"),
        ("agents: []", "agents"),
        ("agents: [", "line 1"),
        ("- a\n- b", "team.yaml"),
        ("agents:\n" + LEADER + "  - just text", "number 2"),
        ("agents:\n" + LEADER + LEADER.replace("true", "false"), "used twice: lead"),
        ("agents:\n" + LEADER.replace("Lead,", "Team Lead,"), "no spaces"),
        ("agents:\n" + LEADER.replace("Lead,", "'Lead\\n',"), "must be a letter"),
        ("agents:\n" + LEADER.replace("true", "false"), "found 0"),
        ("agents:\n" + LEADER + LEADER.replace("Lead", "Boss"), "found 2: Lead, Boss"),
        ("agents:\n" + LEADER.replace("instructions: lead", "tools: [fly]"), "instructions"),
        ("agents:\n" + LEADER.replace("lead}", "lead, tools: [fly]}"), "unknown tool 'fly'"),
        ("agents:\n" + LEADER.replace("lead}", "lead, answers: [care]}"), "none of its tools"),
        ("agents:\n" + LEADER.replace("lead}", "lead, colour: red}"), "agent Lead, colour"),
        ("agents:\n" + LEADER.replace("lead}", "lead, temperature: 9}"), "Lead, temperature"),
        (
            "intents: [{name: PAIN, description: d, agent: Nobody}]\nagents:\n" + LEADER,
            "an intent names 'Nobody'",
        ),
        (
            "intents: [{name: a b, description: d, agent: Lead}]\nagents:\n" + LEADER,
            "intents.0.name",
        ),
        (
            "agents:\n" + LEADER + "  - {name: X, description: d, instructions: i,"
            " tools: [propose_plan]}",
            "only the facilitator",
        ),
    ],
)
def test_an_unusable_team_is_refused_with_why(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_team(written(tmp_path, text), tools=TOOL_NAMES)
    assert problem in str(refused.value)


def test_an_absent_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_team(tmp_path / "none.yaml", tools=TOOL_NAMES)
    binary = tmp_path / "team.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError):
        load_team(binary, tools=TOOL_NAMES)


@pytest.mark.slow
def test_checking_the_team_at_start_loads_no_heavy_library() -> None:
    # The port opens before Semantic Kernel is loaded, and the team is checked before the port.
    code = (
        "import sys\n"
        "from services.team import load_team\n"
        "from group_chat.tools.catalogue import TOOL_NAMES\n"
        "load_team(tools=TOOL_NAMES)\n"
        "print([m for m in ('semantic_kernel', 'openai', 'docx') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stdout.strip() == "[]"
