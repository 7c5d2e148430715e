"""The page's sign-in is registered once, lets in who is named, and tells nobody its secret.

`az` and `azd` are doubles on the path: they keep a directory in a file, answer in Microsoft's form
and refuse what they do not know.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scripts.workshop import ROOT

pytestmark = pytest.mark.slow

SCRIPT = [sys.executable, str(ROOT / "scripts" / "register_sign_in.py")]
ANNA, BEN, EVE = (f"{each}0000000-0000-0000-0000-000000000000" for each in "abe")
DOUBLE = """
import json, pathlib, sys
here, tool, words = pathlib.Path(__file__).parent, pathlib.Path(__file__).name, sys.argv[1:]
state = json.loads((here / "state.json").read_text())
state["asked"].append([tool, *words])
command = " ".join(word for word in words[:4] if not word.startswith("--"))
named = dict(zip(words, words[1:]))
said = None
if state.get("refuses") and state["refuses"] in command:
    (here / "state.json").write_text(json.dumps(state))
    sys.exit("ERROR: Insufficient privileges to complete the operation.")
match command:
    case "ad app list":
        wanted = named["--filter"].partition("'")[2].rstrip("'")
        said = [app for app in state["apps"] if app["displayName"] == wanted]
    case "ad app create":
        said = {"appId": f"app-{len(state['apps'])}", "displayName": named["--display-name"],
                "web": {"redirectUris": [named["--web-redirect-uris"]]}}
        state["apps"].append(said)
    case "ad app update":
        app = next(app for app in state["apps"] if app["appId"] == named["--id"])
        app["web"]["redirectUris"] = [named["--web-redirect-uris"]]
    case "ad sp list":
        wanted = named["--filter"].partition("'")[2].rstrip("'")
        said = [sp for sp in state["sps"] if sp["appId"] == wanted]
    case "ad sp create":
        said = {"id": f"sp-{len(state['sps'])}", "appId": named["--id"]}
        state["sps"].append(said)
    case "ad sp update":
        state["required"] = named["--set"].partition("=")[2]
    case "ad app credential reset":
        state["secrets"] += 1
        said = {"appId": named["--id"], "password": "s3cret~"}
    case "rest" | "rest GET" | "rest POST" | "rest DELETE":
        path = named["--url"].partition("/v1.0/servicePrincipals/")[2].partition("?")[0]
        if named["--method"] == "GET":
            said = {"value": state["assigned"]}
        elif named["--method"] == "POST":
            row = json.loads(named["--body"])
            state["assigned"].append({**row, "id": f"row-{row['principalId'][:1]}"})
            said = state["assigned"][-1]
        else:
            gone = path.rpartition("/")[2]
            state["assigned"] = [row for row in state["assigned"] if row["id"] != gone]
    case _ if command.startswith("env set"):
        file = pathlib.Path(named["--file"])
        rows = [line.partition("=") for line in file.read_text().splitlines()]
        state["azd"] |= {name: value.strip("'") for name, _, value in rows}
        state["mode"], state["file"] = file.stat().st_mode & 0o777, str(file)
    case _:
        sys.exit(f"unknown: {command}")
(here / "state.json").write_text(json.dumps(state))
if said is not None:
    print(json.dumps(said))
"""


@dataclass
class Cloud:
    """A directory, and what was asked of it."""

    folder: Path

    def __post_init__(self) -> None:
        for name in ("az", "azd"):
            tool = self.folder / name
            tool.write_text(f"#!{sys.executable}{DOUBLE}", "utf-8")
            tool.chmod(0o755)
        self.keep(apps=[], sps=[], assigned=[], secrets=0, azd={}, asked=[], required=None)

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "state.json").read_text("utf-8"))
        return found

    def keep(self, **state: Any) -> None:
        old = self.state if (self.folder / "state.json").exists() else {}
        (self.folder / "state.json").write_text(json.dumps(old | state), "utf-8")

    def register(self, **variables: str) -> subprocess.CompletedProcess[str]:
        given = {
            "PATH": f"{self.folder}{os.pathsep}/usr/bin",
            "AZURE_ENV_NAME": "clinic",
            "ROUNDS_URL": "https://rounds-clinic.example.org",
            "ROUNDS_BOT_USERS": f"{ANNA}, {BEN}",
            **variables,
        }
        return subprocess.run(SCRIPT, env=given, capture_output=True, text=True, check=False)


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path)


def test_one_application_lets_in_who_is_named_and_its_secret_is_azds(cloud: Cloud) -> None:
    ran = cloud.register(ROUNDS_OPERATORS=EVE)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    state = cloud.state
    (app,) = state["apps"]
    assert app["displayName"] == "rounds-clinic"
    assert app["web"]["redirectUris"] == ["https://rounds-clinic.example.org/auth/callback"]
    assert {row["principalId"] for row in state["assigned"]} == {ANNA, BEN, EVE}
    assert state["required"] == "true"
    assert state["azd"] == {
        "ROUNDS_OIDC_CLIENT_ID": "app-0",
        "ROUNDS_OIDC_CLIENT_SECRET": "s3cret~",
    }
    assert "s3cret~" not in str(state["asked"])
    assert (state["mode"], Path(state["file"]).exists()) == (0o600, False)
    created = next(words for words in state["asked"] if words[1:4] == ["ad", "app", "create"])
    assert "AzureADMyOrg" in created


def test_a_second_time_nothing_is_made_and_who_left_the_list_is_out(cloud: Cloud) -> None:
    cloud.register()
    ran = cloud.register(
        ROUNDS_BOT_USERS=BEN, ROUNDS_URL="https://new.example.org/", ROUNDS_OIDC_CLIENT_ID="app-0"
    )
    assert ran.returncode == 0
    state = cloud.state
    assert (len(state["apps"]), len(state["sps"]), state["secrets"]) == (1, 1, 1)
    assert [row["principalId"] for row in state["assigned"]] == [BEN]
    assert state["apps"][0]["web"]["redirectUris"] == ["https://new.example.org/auth/callback"]


def test_a_star_lets_the_whole_directory_in(cloud: Cloud) -> None:
    assert cloud.register(ROUNDS_BOT_USERS="*").returncode == 0
    assert (cloud.state["required"], cloud.state["assigned"]) == ("false", [])


def test_what_is_refused_is_said_and_no_secret_is_made(cloud: Cloud) -> None:
    cloud.keep(refuses="ad app create")
    ran = cloud.register()
    assert ran.returncode == 2
    assert "not registered: ERROR: Insufficient privileges" in ran.stderr
    assert (cloud.state["secrets"], cloud.state["azd"]) == (0, {})


def test_two_applications_of_one_name_are_for_a_person_to_sort_out(cloud: Cloud) -> None:
    app = {"appId": "x", "displayName": "rounds-clinic", "web": {"redirectUris": []}}
    cloud.keep(apps=[app, {**app, "appId": "y"}])
    ran = cloud.register()
    assert ran.returncode == 2
    assert "2 applications called rounds-clinic" in ran.stderr


def test_an_empty_list_of_users_stops_with_that_sentence(cloud: Cloud) -> None:
    ran = cloud.register(ROUNDS_BOT_USERS="")
    assert (ran.returncode, cloud.state["asked"]) == (2, [])
    assert "needs ROUNDS_BOT_USERS" in ran.stderr
