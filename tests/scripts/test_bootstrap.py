"""The environment is made once, from the right lock, and a failure is never taken for done."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.workshop import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in for Python is a shell script")

# Stands where the environment's Python will be and notes what it is asked to run.
RECORDER = """#!/bin/sh
echo "$*" >> "$0.log"
case "$*" in *"-m $(cat "$0.broken" 2>/dev/null || echo nothing)"*) exit 1 ;; esac
"""


class Workshop:
    """A copy of the commands, with locks and an environment that are stand-ins."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "scripts", root / "scripts")
        self.requirements = root / "requirements"
        self.requirements.mkdir()
        for name in ("uv", "runtime", "dev"):
            (self.requirements / f"{name}.txt").write_text(f"{name}==1\n")
        self.python = root / ".venv" / "bin" / "python"
        self.python.parent.mkdir(parents=True)
        self.python.write_text(RECORDER)
        self.python.chmod(0o755)

    def bootstrap(self, *arguments: str) -> int:
        command = [sys.executable, "-m", "scripts.bootstrap", *arguments]
        return subprocess.run(command, cwd=self.root, check=False).returncode

    def take_log(self) -> list[str]:
        """What the environment's Python was asked to run since the last look."""
        log = self.python.with_name("python.log")
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line.replace(f"{self.root}/", "") for line in lines]

    def break_module(self, module: str) -> None:
        self.python.with_name("python.broken").write_text(module)

    def mend(self) -> None:
        self.python.with_name("python.broken").unlink()


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_the_first_time_the_lock_is_installed_with_its_hashes(workshop: Workshop) -> None:
    assert workshop.bootstrap("dev") == 0
    first, second = workshop.take_log()
    assert first.startswith("-m pip")
    assert first.endswith("--require-hashes -r requirements/uv.txt")
    assert second.startswith("-m uv pip sync requirements/dev.txt --require-hashes")


@pytest.mark.slow
def test_the_second_time_nothing_is_done(workshop: Workshop) -> None:
    workshop.bootstrap("dev")
    workshop.take_log()
    assert workshop.bootstrap("dev") == 0
    assert workshop.take_log() == []


def test_the_environment_of_tests_serves_the_server_too(workshop: Workshop) -> None:
    workshop.bootstrap("dev")
    workshop.take_log()
    assert workshop.bootstrap("runtime") == 0
    assert workshop.take_log() == []


@pytest.mark.slow
def test_the_environment_of_the_server_does_not_serve_tests(workshop: Workshop) -> None:
    workshop.bootstrap("runtime")
    assert "uv pip install -r requirements/runtime.txt" in workshop.take_log()[1]
    assert workshop.bootstrap("dev") == 0
    assert "uv pip sync requirements/dev.txt" in workshop.take_log()[1]


def test_a_changed_lock_is_installed_again(workshop: Workshop) -> None:
    workshop.bootstrap("runtime")
    workshop.take_log()
    (workshop.requirements / "runtime.txt").write_text("runtime==2\n")
    assert workshop.bootstrap("runtime") == 0
    assert len(workshop.take_log()) == 2


def test_where_uv_fails_pip_does_it(workshop: Workshop) -> None:
    workshop.break_module("uv")
    assert workshop.bootstrap("runtime") == 0
    assert workshop.take_log()[-1].endswith("--require-hashes -r requirements/runtime.txt")


def test_a_failed_installation_says_so_and_is_tried_again(workshop: Workshop) -> None:
    workshop.break_module("pip")
    assert workshop.bootstrap("runtime") == 1
    workshop.mend()
    workshop.take_log()
    assert workshop.bootstrap("runtime") == 0
    assert len(workshop.take_log()) == 2


@pytest.mark.parametrize("arguments", [(), ("prod",), ("runtime", "dev")])
def test_an_unknown_lock_is_refused(workshop: Workshop, arguments: tuple[str, ...]) -> None:
    assert workshop.bootstrap(*arguments) == 2
    assert workshop.take_log() == []
