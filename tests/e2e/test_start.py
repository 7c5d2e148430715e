"""What an operator sees of a start that cannot work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.server import ROOT
from tests.tables import with_cases

pytestmark = pytest.mark.slow


def start(folder: Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(ROOT / "app.py")],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PORT": "0", **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@with_cases("name", "settings")
def test_a_bad_setting_ends_the_start_with_its_name(
    tmp_path: Path, name: str, settings: dict[str, str]
) -> None:
    ended = start(tmp_path, **settings)
    assert ended.returncode == 2, ended.stderr
    assert name in ended.stderr
    assert "Traceback" not in ended.stderr
