"""The server imports what every turn uses; the rest is whole for whoever imports it later."""

import subprocess
import sys

_SCRIPT = """
import sys
import app
from group_chat.kernel_import import import_kernel

import_kernel()
from group_chat.build import build_team
from semantic_kernel.contents import ChatHistory

unused = {"av", "aiortc", "pybars", "jinja2", "numpy"} & sys.modules.keys()
unused |= {"mcp", "docx", "lxml", "azure.identity", "requests"} & sys.modules.keys()
assert not unused, unused
import jinja2
import numpy
assert numpy.array([1, 2]).sum() == 3
assert jinja2.Template("{{ 1 + 1 }}").render() == "2"
"""


def test_what_is_not_used_is_not_imported_and_can_be_later() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
