"""Whether the models can be deployed is asked before anything is made, of an `az` that answers."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.check_models import PLAN
from scripts.workshop import ROOT

pytestmark = pytest.mark.slow

CHECK = [sys.executable, str(ROOT / "scripts" / "check_models.py")]
PLANNED = json.loads(PLAN.read_text("utf-8"))
CHAT, CLASSIFIER = PLANNED["known"][:2]
Run = Callable[..., subprocess.CompletedProcess[str]]


def offered(model: dict[str, str], **changed: Any) -> dict[str, Any]:
    """A row of `az cognitiveservices model list`."""
    return {
        "kind": "OpenAI",
        "skuName": "S0",
        "model": {
            "format": "OpenAI",
            "name": model["name"],
            "version": model["version"],
            "lifecycleStatus": "GenerallyAvailable",
            "deprecation": {"fineTune": None, "inference": "2099-03-05T00:00:00Z"},
            "skus": [
                {"name": sku, "usageName": f"OpenAI.{sku}.{model['name']}"}
                for sku in ("GlobalStandard", PLANNED["sku"])
            ],
            **changed,
        },
    }


def usage(model: dict[str, str], *, used: float, limit: float) -> dict[str, Any]:
    """A row of `az cognitiveservices usage list`."""
    name = f"OpenAI.{PLANNED['sku']}.{model['name']}"
    return {"name": {"value": name}, "currentValue": used, "limit": limit, "unit": "Count"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the hook with an `az` that prints what is given and notes what it is asked."""

    def check(
        models: list[dict[str, Any]],
        usages: list[dict[str, Any]],
        *,
        accounts: tuple[dict[str, Any], ...] = (),
        deployments: tuple[dict[str, Any], ...] = (),
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        answers = {
            "model list": models,
            "usage list": usages,
            "account list": accounts,
            "deployment list": deployments,
        }
        (tmp_path / "answers.json").write_text(json.dumps(answers), "utf-8")
        az = tmp_path / "az"
        az.write_text(
            f"#!{sys.executable}\n"
            "import json, pathlib, sys\n"
            "here, asked = pathlib.Path(__file__).parent, ' '.join(sys.argv[1:])\n"
            "(here / 'asked').open('a').write(asked + '\\n')\n"
            "for part, rows in json.loads((here / 'answers.json').read_text()).items():\n"
            "    if part in asked:\n"
            "        print(json.dumps(rows))\n"
            "        sys.exit(0)\n"
            "sys.exit('unknown command: ' + asked)\n",
            "utf-8",
        )
        az.chmod(0o755)
        environment = {"PATH": f"{tmp_path}{os.pathsep}/usr/bin", "AZURE_ENV_NAME": "clinic"}
        environment |= {"AZURE_LOCATION": "swedencentral", **variables}
        return subprocess.run(CHECK, env=environment, capture_output=True, text=True, check=False)

    return check


ALL = [offered(CHAT), offered(CLASSIFIER)]
PLENTY = [usage(CHAT, used=0, limit=5000), usage(CLASSIFIER, used=10, limit=5000)]


def test_models_offered_and_with_quota_stand_in_nobodys_way(run: Run, tmp_path: Path) -> None:
    ran = run(ALL, PLENTY)
    assert (ran.returncode, ran.stderr) == (0, "")
    asked = (tmp_path / "asked").read_text("utf-8").splitlines()
    assert asked == [
        "cognitiveservices model list --location swedencentral --output json",
        "cognitiveservices usage list --location swedencentral --output json",
        "cognitiveservices account list --output json",
    ]


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ([offered(CLASSIFIER)], "is not offered as DataZoneStandard in swedencentral"),
        ([offered(CHAT, version="2020-01-01"), offered(CLASSIFIER)], "is not offered"),
        ([offered(CHAT, skus=[]), offered(CLASSIFIER)], "is not offered"),
        ([offered(CHAT, lifecycleStatus="Deprecated"), offered(CLASSIFIER)], "no new deployments"),
        (
            [offered(CHAT, deprecation={"inference": "2026-12-01T00:00:00Z"}), offered(CLASSIFIER)],
            "retires on 2026-12-01",
        ),
    ],
)
def test_a_model_that_cannot_be_deployed_is_named_with_what_to_set(
    run: Run, models: list[dict[str, Any]], said: str
) -> None:
    ran = run(models, PLENTY)
    assert ran.returncode == 1
    assert f"{CHAT['name']} {CHAT['version']} {said}" in ran.stderr.replace("takes ", "")
    assert "set ROUNDS_CHAT_MODEL and ROUNDS_CHAT_MODEL_VERSION, or AZURE_LOCATION" in ran.stderr


def test_a_quota_that_does_not_do_is_told_before(run: Run) -> None:
    ran = run(ALL, [usage(CHAT, used=990, limit=1000), PLENTY[1]])
    assert ran.returncode == 1
    assert "needs 50,000 tokens a minute, the subscription has 10,000 left" in ran.stderr


def test_a_second_run_does_not_count_its_own_deployments_against_itself(run: Run) -> None:
    ran = run(
        ALL,
        [usage(CHAT, used=1000, limit=1000), PLENTY[1]],
        accounts=(
            {"name": "rounds-x", "resourceGroup": "rounds-clinic"},
            {"name": "other", "resourceGroup": "elsewhere"},
        ),
        deployments=({"name": CHAT["name"], "sku": {"capacity": 50}},),
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_another_model_is_asked_about_as_it_is_named(run: Run) -> None:
    ran = run(ALL, PLENTY, ROUNDS_CHAT_MODEL="gpt-9", ROUNDS_CHAT_MODEL_VERSION="2030-01-01")
    assert "gpt-9 2030-01-01 is not offered" in ran.stderr


def test_an_azure_that_cannot_be_asked_is_no_permission(run: Run, tmp_path: Path) -> None:
    run(ALL, PLENTY)
    (tmp_path / "answers.json").write_text("{}", "utf-8")
    environment = {"PATH": f"{tmp_path}:/usr/bin", "AZURE_LOCATION": "swedencentral"}
    refused = subprocess.run(CHECK, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "could not be checked: unknown command" in refused.stderr
    nowhere = subprocess.run(CHECK, env={}, capture_output=True, text=True, check=False)
    assert (nowhere.returncode, "AZURE_LOCATION" in nowhere.stderr) == (2, True)


def test_what_is_deployed_by_default_is_what_is_checked() -> None:
    main = (ROOT / "infra" / "main.bicep").read_text("utf-8")
    asked = json.loads((ROOT / "infra" / "main.parameters.json").read_text("utf-8"))["parameters"]
    for use, model in (("chat", CHAT), ("classifier", CLASSIFIER)):
        assert f"param {use}Model string = '{model['name']}'" in main
        assert f"param {use}ModelVersion string = '{model['version']}'" in main
        variable = f"ROUNDS_{use.upper()}_MODEL"
        assert asked[f"{use}Model"]["value"] == f"${{{variable}={model['name']}}}"
        assert asked[f"{use}ModelVersion"]["value"] == f"${{{variable}_VERSION={model['version']}}}"


def test_a_stage_that_there_is_not_is_named_before_azure_is_asked(run: Run, tmp_path: Path) -> None:
    ran = run(ALL, PLENTY, ROUNDS_STAGE="test")
    assert ran.returncode == 2
    assert "ROUNDS_STAGE is test; it may be dev or production" in ran.stderr
    assert not (tmp_path / "asked").exists()
