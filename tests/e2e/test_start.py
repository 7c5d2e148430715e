"""What an operator sees of a start that cannot work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.server import ROOT

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


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("PORT", {"PORT": "many"}),
        ("HOST", {"HOST": "0.0.0.0"}),
        ("PATIENT_ID_PATTERN", {"PATIENT_ID_PATTERN": "^(a+)+$"}),
        ("LLM_PROVIDER", {"LLM_PROVIDER": "magic"}),
        ("AZURE_STORAGE_CONNECTION_STRING", {"AZURE_STORAGE_CONNECTION_STRING": "nonsense"}),
        ("AZURE_OPENAI_DEPLOYMENT_NAME", {"AZURE_OPENAI_ENDPOINT": "https://127.0.0.1"}),
        ("MicrosoftAppPassword", {"MicrosoftAppId": "11111111-2222-3333-4444-555555555555"}),
    ],
)
def test_a_bad_setting_ends_the_start_with_its_name(
    tmp_path: Path, name: str, settings: dict[str, str]
) -> None:
    ended = start(tmp_path, **settings)
    assert ended.returncode == 2, ended.stderr
    assert name in ended.stderr
    assert "Traceback" not in ended.stderr
