"""Tables of cases that are data: they stand in a YAML file beside their test, a case a line.

Rows that need nothing but themselves run as one item of pytest, which spends longer between two
items than within most of them. A row that is asked for by its id runs alone.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import pytest
from pydantic import BaseModel, TypeAdapter

from data_models.plain_yaml import read_yaml

_OF_EVERY_TEST = {"event_loop_policy", "network_guard", "request"}
_ROW = type(pytest.param())
Test = TypeVar("Test", bound=Callable[..., object])


def with_cases(*names: str) -> Callable[[Test], Test]:
    """Run a test with each row of the table of its name; `names` are those of the columns.

    The table of `test_a_thing_is_so` in `test_things.py` is `a_thing_is_so` in `test_things.yaml`.
    Rows that have names are called by them. What is no field of a row's type is an error.
    """

    def parametrized(test: Test) -> Test:
        tables = tables_beside(Path(inspect.getfile(test)))
        table = tables[test.__name__.removeprefix("test_")]
        ids, rows = (list(table), table.values()) if isinstance(table, dict) else (None, table)
        typed = {name: kind for name, kind in get_type_hints(test).items() if name in names}
        cells = [row if len(names) > 1 else [row] for row in rows]
        cases = [
            [_typed(cell, typed[name]) for name, cell in zip(names, row, strict=True)]
            for row in cells
        ]
        decorated: Test = pytest.mark.parametrize(names, cases, ids=ids)(test)
        return decorated

    return parametrized


def _typed(cell: object, kind: Any) -> object:
    """Return the lists and mappings of YAML as the tuples, sets and models that the test takes."""
    is_meant = "tuple[" in str(kind) or "set[" in str(kind) or _is_model(kind)
    return TypeAdapter(kind).validate_python(cell) if is_meant else cell


def _is_model(kind: object) -> bool:
    return inspect.isclass(kind) and issubclass(kind, BaseModel)


@cache
def tables_beside(file: Path) -> dict[str, Any]:
    """Return all tables of the test file."""
    return dict(read_yaml(file.with_suffix(".yaml").read_bytes()))


def chooses_rows(arguments: Sequence[str], keyword: str) -> bool:
    """Whether rows may be asked for by their names: then each stands for itself."""
    return bool(keyword) or any("[" in one for one in arguments)


def whole_table(parent: pytest.Module, name: str, test: Test) -> pytest.Item | None:
    """Return the rows of a table that take no fixture as one item, which makes them as it runs.

    None for any other test, and where a row has marks of its own.
    """
    if not _is_plain_table(test):
        return None
    first: pytest.Function = next(parent._genfunctions(name, test))
    if set(first.fixturenames) - _OF_EVERY_TEST != {*inspect.signature(test).parameters}:
        return None  # its folder has a fixture for every test

    @wraps(test)
    def each_row() -> None:
        __tracebackhide__ = True
        failed, rows = [], list(parent._genfunctions(name, test))
        for row in rows:
            try:
                _run(row)
            except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                error.add_note(f"In row [{row.callspec.id}].")
                failed.append(error)
        if len(failed) > 1:
            raise BaseExceptionGroup(f"{len(failed)} of {len(rows)} rows", failed)
        if failed:
            raise failed[0]

    marks = [mark for mark in vars(each_row)["pytestmark"] if mark.name != "parametrize"]
    vars(each_row).update(pytestmark=marks, __signature__=inspect.Signature())
    whole: pytest.Item = pytest.Function.from_parent(parent, name=name, callobj=each_row)
    return whole


def _is_plain_table(test: Test) -> bool:
    """Whether a test takes what stands in its rows and no more."""
    columns = [one for one in vars(test).get("pytestmark", ()) if one.name == "parametrize"]
    if not columns or "is_hypothesis_test" in vars(test):
        return False
    named = [name for one in columns for name in _names_in(one.args[0])]
    has_marks = any(isinstance(row, _ROW) and row.marks for one in columns for row in one.args[1])
    return not has_marks and {*inspect.signature(test).parameters} == {*named}


def _names_in(columns: str | Sequence[str]) -> Iterator[str]:
    yield from (
        one.strip() for one in (columns.split(",") if isinstance(columns, str) else columns)
    )


def _run(row: pytest.Function) -> None:
    done = row.function(**row.callspec.params)
    if inspect.iscoroutine(done):
        asyncio.run(done)
