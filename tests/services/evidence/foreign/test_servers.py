"""The operator's file of other systems' servers is checked before anything starts."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from data_models.errors import ConfigurationError
from group_chat.tools.catalogue import TOOL_NAMES
from services.evidence.evidence_factory import ForeignServers, foreign_servers_for, load_servers
from services.team import load_team
from tests.given_settings import given_settings

TOOL = {"name": "drug_facts", "about": "Facts.", "digest": "0" * 64, "asks": {"drug": "Its name."}}
SERVER = {
    "name": "formulary",
    "url": "https://formulary.example/mcp",
    "agents": ["PatientHistory"],
    "tools": [TOOL],
}


def loaded(folder: Path, *servers: dict[str, Any]) -> ForeignServers:
    path = folder / "servers.yaml"
    path.write_text(yaml.safe_dump({"servers": list(servers)}), "utf-8")
    return load_servers(path, agents=load_team(tools=TOOL_NAMES).names, tools=TOOL_NAMES)


def test_without_a_file_there_are_none() -> None:
    team = load_team(tools=TOOL_NAMES)
    found = load_servers(None, agents=team.names, tools=TOOL_NAMES)
    assert found.names == ()
    assert team.given(found.by_agent) == team


def test_tools_bear_their_servers_name_and_only_the_files_agents_have(tmp_path: Path) -> None:
    team = load_team(tools=TOOL_NAMES)
    given = team.given(loaded(tmp_path, SERVER).by_agent)
    having = [spec.name for spec in given.agents if "formulary_drug_facts" in spec.tools]
    assert having == ["PatientHistory"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"url": "http://formulary.example/mcp"}, "https"),
        ({"url": "https://me:secret@formulary.example/mcp"}, "without a user"),
        ({"url": "file:///etc/passwd"}, "https"),
        ({"name": "Formulary 2"}, "servers.0.name"),
        ({"agents": ["Nobody"]}, "'Nobody' is not in the team"),
        ({"agents": []}, "servers.0.agents"),
        ({"command": "rm"}, "servers.0.command"),
        ({"of_patient": True}, "has to be told who that is"),
        ({"tools": [{**TOOL, "digest": "read it"}]}, "digest"),
        ({"tools": [{**TOOL, "sends": {"who": "diagnoses"}}]}, "sends.who"),
        ({"tools": [{**TOOL, "sends": {"drug": "name"}}]}, "one only"),
        ({"tools": [{**TOOL, "asks": {"Patient-ID": "Whose."}}]}, "belongs in `sends`"),
        ({"tools": [TOOL, TOOL]}, "two tools 'formulary_drug_facts'"),
    ],
)
def test_what_cannot_work_stops_the_start_with_its_place(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigurationError, match=r"servers\.yaml") as caught:
        loaded(tmp_path, {**SERVER, **changes})
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["servers: [", "servers: 4", "\x00"])
def test_a_file_that_is_none_stops_the_start(tmp_path: Path, text: str) -> None:
    path = tmp_path / "servers.yaml"
    path.write_text(text, "utf-8")
    for one in (path, tmp_path / "absent.yaml"):
        with pytest.raises(ConfigurationError, match=one.name):
            load_servers(one, agents=(), tools=TOOL_NAMES)


def test_a_host_that_may_not_be_called_has_to_be_allowed_by_name(tmp_path: Path) -> None:
    loaded(tmp_path, SERVER)
    path, team = tmp_path / "servers.yaml", load_team(tools=TOOL_NAMES).names
    with pytest.raises(ConfigurationError, match="ALLOWED_OUTBOUND_HOSTS"):
        foreign_servers_for(given_settings(mcp_servers=path), agents=team, tools=TOOL_NAMES)
    allowed = given_settings(mcp_servers=path, allowed_outbound_hosts=("formulary.example",))
    found = foreign_servers_for(allowed, agents=team, tools=TOOL_NAMES)
    assert found.names == ("formulary_drug_facts",)
