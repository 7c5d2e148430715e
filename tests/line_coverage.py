"""Which lines of the product the tests run: `pytest -p tests.line_coverage`.

Prints the share behind the tests' summary, and fails below the floor. slipcover instruments a
module when it is imported. A plugin of its own: slipcover's looks for modules where pytest's
import mode does not.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import machinery
from pathlib import Path
from types import ModuleType

import pytest
from slipcover import Slipcover
from slipcover.importer import SlipcoverLoader

FLOOR_PERCENT = 90.0
_FOLDERS = ("bots", "data_models", "group_chat", "routes", "services")
_PRODUCT = (*_FOLDERS, "app", "foundation", "settings", "web_services")
_REPORTS = "ROUNDS_COVERAGE_FOLDER"
_ROOT = Path(__file__).resolve().parents[1]
# Marks stay for good. To take them out of what has run, slipcover would, in the middle of any line
# and with a lock held, read the frames of every thread and exchange the code of their functions:
# once that never ended, inside a garbage collection; and it costs more than the marks do.
_STAY = -1
_coverage = Slipcover(d_miss_threshold=_STAY, source=[str(_ROOT / folder) for folder in _FOLDERS])


class _Finder:
    """Finds the product's modules as Python does, and has them marked."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> machinery.ModuleSpec | None:
        if name.split(".", maxsplit=1)[0] not in _PRODUCT:
            return None
        spec = machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, machinery.SourceFileLoader):
            spec.loader = SlipcoverLoader(_coverage, spec.loader, str(spec.origin))
        return spec


sys.meta_path.insert(0, _Finder)


def pytest_configure() -> None:
    """Name the folder where the processes that run tests leave what they saw."""
    os.environ.setdefault(_REPORTS, tempfile.mkdtemp(prefix="rounds-coverage-"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave what this process saw; the first process judges it all."""
    own = Path(os.environ[_REPORTS]) / f"{os.environ.get('PYTEST_XDIST_WORKER', 'first')}.json"
    own.write_text(json.dumps(_coverage.get_coverage()["files"]))
    if "PYTEST_XDIST_WORKER" not in os.environ and _percent() < FLOOR_PERCENT:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the share, and the files with most lines that no test runs."""
    terminalreporter.section("lines of the product that tests run")
    missing = {name: len(known - ran) for name, (ran, known) in _lines().items()}
    for name in sorted(missing, key=lambda one: -missing[one])[:10]:
        terminalreporter.line(f"{missing[name]:5} not run in {name}")
    verdict = "" if _percent() >= FLOOR_PERCENT else f", below the floor of {FLOOR_PERCENT:.0f} %"
    terminalreporter.line(f"{_percent():.1f} % of all lines{verdict}")


def _percent() -> float:
    lines = _lines().values()
    return 100 * sum(len(ran) for ran, _ in lines) / max(1, sum(len(known) for _, known in lines))


def _lines() -> dict[str, tuple[set[int], set[int]]]:
    """Return of each file the lines that ran and all there are, of every process."""
    found: dict[str, tuple[set[int], set[int]]] = {}
    for files in _reports():
        for name, lines in files.items():
            ran, known = found.setdefault(name, (set(), set()))
            ran.update(lines["executed_lines"])
            known.update(lines["executed_lines"], lines["missing_lines"])
    return found


def _reports() -> Iterator[dict[str, dict[str, list[int]]]]:
    for path in Path(os.environ[_REPORTS]).glob("*.json"):
        yield json.loads(path.read_text())
