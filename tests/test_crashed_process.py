"""A process of tests that dies ends the run, which names the test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MAKEFILE = Path(__file__).parent.parent / "Makefile"
DIES = "import os\ndef test_before(): ...\ndef test_dies(): os._exit(3)\ndef test_behind(): ...\n"
OF_ITS_OWN = "[pytest]\nasyncio_default_fixture_loop_scope = function\n"


def test_a_process_that_dies_ends_the_run_with_the_name_of_its_test(tmp_path: Path) -> None:
    options = re.search(r"^SIDE_BY_SIDE := (.+)$", MAKEFILE.read_text("utf-8"), re.MULTILINE)
    assert options is not None
    (tmp_path / "test_first.py").write_text(DIES)
    (tmp_path / "test_second.py").write_text(DIES.replace("os._exit(3)", "..."))
    (tmp_path / "pytest.ini").write_text(OF_ITS_OWN)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", *options[1].split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert "crashed while running 'test_first.py::test_dies'" in run.stdout
