"""A machine's Node.js is taken only where it is new enough and comes with npm."""

import os
from pathlib import Path

import pytest

from scripts import node

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def put_program(path: Path, says: str) -> None:
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)


def put_npm(path: Path) -> Path:
    script = path.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    script.parent.mkdir(parents=True)
    script.write_text("")
    (path / "npm").symlink_to(script)
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("version", ["v20.0.0", "v24.19.0"])
def test_a_new_enough_one_is_taken(path: Path, version: str) -> None:
    put_program(path / "node", version)
    script = put_npm(path)
    assert node.node_on_path() == node.Node(path / "node", script)


@pytest.mark.parametrize("version", ["v18.20.4", "v9.9.9", "nonsense", ""])
def test_an_older_or_broken_one_is_not(path: Path, version: str) -> None:
    put_program(path / "node", version)
    put_npm(path)
    assert node.node_on_path() is None


def test_one_without_npm_is_not(path: Path) -> None:
    put_program(path / "node", "v22.0.0")
    assert node.node_on_path() is None


def test_a_machine_without_one_has_none(path: Path) -> None:
    assert node.node_on_path() is None
