"""Tables of cases that are data: they stand in a YAML file beside their test, a case a line."""

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import pytest
from pydantic import TypeAdapter

from data_models.plain_yaml import read_yaml

Test = TypeVar("Test", bound=Callable[..., object])


def with_cases(*names: str) -> Callable[[Test], Test]:
    """Run a test with each row of the table of its name; `names` are those of the columns.

    The table of `test_a_thing_is_so` in `test_things.py` is `a_thing_is_so` in `test_things.yaml`.
    """

    def parametrized(test: Test) -> Test:
        tables = tables_beside(Path(inspect.getfile(test)))
        rows = tables[test.__name__.removeprefix("test_")]
        typed = {name: kind for name, kind in get_type_hints(test).items() if name in names}
        cells = [row if len(names) > 1 else [row] for row in rows]
        cases = [
            [_typed(cell, typed[name]) for name, cell in zip(names, row, strict=True)]
            for row in cells
        ]
        decorated: Test = pytest.mark.parametrize(names, cases)(test)
        return decorated

    return parametrized


def _typed(cell: object, kind: Any) -> object:
    """Return the lists of YAML as the tuples and sets that the test takes."""
    is_meant = "tuple[" in str(kind) or "set[" in str(kind)
    return TypeAdapter(kind).validate_python(cell) if is_meant else cell


@cache
def tables_beside(file: Path) -> dict[str, Any]:
    """Return all tables of the test file."""
    return dict(read_yaml(file.with_suffix(".yaml").read_bytes()))
