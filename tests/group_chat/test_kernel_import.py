"""The server imports what every turn uses; the rest is whole for whoever imports it later."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

_SCRIPT = """
import sys
import app
from group_chat.late_start import import_kernel

import_kernel()
from group_chat.build import build_team
from semantic_kernel.contents import ChatHistory

unused = {"av", "aiortc", "pybars", "jinja2", "numpy", "openai", "httpx"} & sys.modules.keys()
unused |= {"mcp", "docx", "lxml", "azure.identity", "requests"} & sys.modules.keys()
assert not unused, unused
import babel.localedata
from services.language.reading import make_ready

make_ready()
assert not babel.localedata._cache  # eight megabytes for a few names of months
import jinja2
import numpy
import openai.types
assert openai.types.CompletionUsage.model_fields
assert numpy.array([1, 2]).sum() == 3
assert jinja2.Template("{{ 1 + 1 }}").render() == "2"
"""


def test_what_is_not_used_is_not_imported_and_can_be_later() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


_SEARCHED_MEANWHILE = """
import sys
import threading
from unittest.mock import patch

from group_chat import late_start
from services.records.ranking import ranking_of

found = []
searching = threading.Thread(target=lambda: found.append(ranking_of([["potassium", "high"]])))


def search_while_the_placeholders_stand(name):
    searching.start()
    searching.join(3)


with patch.object(late_start.importlib, "import_module", search_while_the_placeholders_stand):
    late_start.import_kernel()
searching.join()
assert list(found[0].get_scores(["potassium"]).argsort()) == [0]
"""


def test_a_record_that_is_searched_meanwhile_meets_no_placeholder() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SEARCHED_MEANWHILE], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
