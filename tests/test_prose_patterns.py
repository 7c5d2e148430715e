"""Only `services/language` reads prose: every other pattern is over ids, formats or marks."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.tables import tables_beside

ROOT = Path(__file__).parents[1]
_CODE = ("bots", "data_models", "group_chat", "legacy", "routes", "services")
_READS_PROSE = ROOT / "services" / "language"
_COMPILED = re.compile(r"\bre\.compile\(")
# What the patterns of the other files are over. None of them reads what users or models write.
OVER: Mapping[str, Sequence[str]] = tables_beside(Path(__file__))


def _with_patterns() -> set[str]:
    """Return the product's files outside of the language that compile a pattern."""
    files = [path for folder in _CODE for path in (ROOT / folder).rglob("*.py")]
    outside = [one for one in files if _READS_PROSE not in one.parents]
    return {
        path.relative_to(ROOT).as_posix()
        for path in [*outside, *ROOT.glob("*.py")]
        if _COMPILED.search(path.read_text())
    }


@pytest.mark.slow
def test_no_pattern_over_prose_stands_outside_the_language() -> None:
    known = {name for names in OVER.values() for name in names}
    assert _with_patterns() - known == set(), (
        "read the words in services/language, or say what it is"
    )


@pytest.mark.slow
def test_the_list_names_no_file_that_has_no_pattern() -> None:
    known = {name for names in OVER.values() for name in names}
    assert known - _with_patterns() == set()
