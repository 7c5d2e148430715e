"""The SDK is loaded once the port is open, and requests wait for it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_adding_the_routes_does_not_load_the_sdk() -> None:
    code = "import sys, bots.routes; sys.exit('botbuilder' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
