"""The image holds what the server needs, runs as nobody, and its compose file is sound."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.image_check import COMMANDS, check, copied, environment, last_stage, open_folder
from settings import Settings

ROOT = Path(__file__).parents[2]
INFRA = ROOT / "infra"
COMPOSE = INFRA / "compose.yaml"


def tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment at the root of the project."""
    program = Path(sys.executable).parent / name
    return subprocess.run(
        [program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def known() -> set[str]:
    return {str(field.alias) for field in Settings.model_fields.values()}


@pytest.mark.slow
def test_hadolint_has_nothing_to_say() -> None:
    done = tool("hadolint", "infra/Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_the_compose_file_obeys_its_schema() -> None:
    done = tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE)
    assert done.returncode == 0, done.stdout


def test_the_image_holds_every_package_of_the_server() -> None:
    taken = {source.strip("/") for source, _ in copied()}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    beside = {"bench", "evals", "infra", "scripts", "tests"}
    assert packages - beside <= taken
    assert taken >= {"app.py", "settings.py", "samples", "web/dist"}


def test_everything_the_image_copies_is_let_into_the_build() -> None:
    let_in = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE))
    text = (INFRA / "Dockerfile").read_text("utf-8")
    for found in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for source in found.split():
            parts = Path(source.strip("/")).parts
            paths = {"/".join(parts[: count + 1]) for count in range(len(parts))}
            assert paths & let_in, source


def test_the_image_runs_as_nobody_and_is_asked_without_curl() -> None:
    stage = last_stage()
    assert "USER 10001:10001" in stage
    assert "HEALTHCHECK" in stage
    assert "curl" not in stage
    assert {*environment()} - {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"} <= known()


def test_the_compose_servers_write_nowhere_but_their_data() -> None:
    services = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    rounds = services["rounds"]
    assert set(rounds["environment"]) <= known()
    assert rounds["read_only"] is True
    assert rounds["cap_drop"] == ["ALL"]
    assert (COMPOSE.parent / rounds["build"]["context"] / rounds["build"]["dockerfile"]).is_file()
    assert [one for name, one in services.items() if name != "door" and "ports" in one] == []


def test_azd_is_told_where_everything_is() -> None:
    azure = yaml.safe_load((ROOT / "azure.yaml").read_text("utf-8"))
    infra, hook = azure["infra"], azure["hooks"]["postprovision"]
    assert (ROOT / azure["hooks"]["preprovision"]["run"].split()[1]).is_file()
    assert (ROOT / infra["path"] / f"{infra['module']}.bicep").is_file()
    parameters = (ROOT / infra["path"] / f"{infra['module']}.parameters.json").read_text("utf-8")
    release = (ROOT / hook["run"]).read_text("utf-8")
    assert os.access(ROOT / hook["run"], os.X_OK)
    # What the script sets is what the second provisioning reads.
    assert "azd env set ROUNDS_IMAGE" in release
    assert "${ROUNDS_IMAGE=}" in parameters
    assert "${ROUNDS_OIDC_CLIENT_ID=}" in parameters
    assert "${ROUNDS_OIDC_CLIENT_SECRET=}" in parameters
    assert "--file infra/Dockerfile" in release


def test_a_release_is_built_once_and_never_of_uncommitted_work(tmp_path: Path) -> None:
    said = tmp_path / "said"
    for name in ("az", "azd"):
        fake = tmp_path / name
        fake.write_text(f'#!/bin/sh\necho {name} "$@" >> {said}\n', "utf-8")
        fake.chmod(0o755)
    folder = tmp_path / "project"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)

    def release(**more: str) -> int:
        told = {"PATH": f"{tmp_path}:/usr/bin:/bin", **more}
        told["AZURE_CONTAINER_REGISTRY_ENDPOINT"] = "reg.azurecr.io"
        told["ROUNDS_REGISTER_SIGN_IN"] = "false"
        done = subprocess.run([INFRA / "release.sh"], cwd=folder, env=told, check=False)
        return done.returncode

    assert release() == 0
    build, kept, again = said.read_text("utf-8").splitlines()
    image = kept.removeprefix("azd env set ROUNDS_IMAGE ")
    assert build.startswith("az acr build --registry reg --image rounds:")
    assert again == "azd provision --no-prompt"
    assert release(ROUNDS_IMAGE=image) == 0
    assert len(said.read_text("utf-8").splitlines()) == 3
    (folder / "new").touch()
    assert release() == 1


def test_the_scheduled_jobs_are_commands_that_the_check_runs() -> None:
    text = (INFRA / "main.bicep").read_text("utf-8")
    found = re.findall(r"command: \[([^\]]+)\]", text)
    jobs = [[part.strip(" '") for part in one.split(",")] for one in found]
    assert jobs == [["python", *command] for command in COMMANDS]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_image_works_without_a_right_to_write() -> None:
    with open_folder() as folder:
        report = check(folder)
        assert (folder / "data" / "chat-sessions").is_dir()
    assert report.packages_mb <= 300
    assert report.model_calls > 0
    assert report.memory_mb < 300
