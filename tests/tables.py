"""Tables of cases that are data: they stand in a YAML file beside their test, a case a line."""

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

from data_models.plain_yaml import read_yaml

Test = TypeVar("Test", bound=Callable[..., object])


def with_cases(*names: str) -> Callable[[Test], Test]:
    """Run a test with each row of the table of its name; `names` are those of the columns.

    The table of `test_a_thing_is_so` in `test_things.py` is `a_thing_is_so` in `test_things.yaml`.
    """

    def parametrized(test: Test) -> Test:
        tables = tables_beside(Path(inspect.getfile(test)))
        rows = tables[test.__name__.removeprefix("test_")]
        columns = names if len(names) > 1 else names[0]
        decorated: Test = pytest.mark.parametrize(columns, rows)(test)
        return decorated

    return parametrized


@cache
def tables_beside(file: Path) -> dict[str, Any]:
    """Return all tables of the test file."""
    return dict(read_yaml(file.with_suffix(".yaml").read_bytes()))
