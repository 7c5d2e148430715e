"""Tables of cases that are data: they stand in a YAML file beside their test, a case a line.

Rows that need nothing but themselves run as one item of pytest, which spends longer between two
items than within most of them. A row that is asked for by its id runs alone.
"""

import asyncio
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import pytest
from pydantic import TypeAdapter

from data_models.plain_yaml import read_yaml

_OF_EVERY_TEST = {"event_loop_policy", "network_guard", "request"}
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
    """Return the lists of YAML as the tuples and sets that the test takes."""
    is_meant = "tuple[" in str(kind) or "set[" in str(kind)
    return TypeAdapter(kind).validate_python(cell) if is_meant else cell


@cache
def tables_beside(file: Path) -> dict[str, Any]:
    """Return all tables of the test file."""
    return dict(read_yaml(file.with_suffix(".yaml").read_bytes()))


def in_whole_tables(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the items, the rows of a table that take no fixture as a single one."""
    for table, each in itertools.groupby(items, key=_table_of):
        if table:
            yield _whole([row for row in each if isinstance(row, pytest.Function)])
        else:
            yield from each


def _table_of(item: pytest.Item) -> tuple[object, ...]:
    """Return what the rows of a table that takes no fixture have in common; of others nothing."""
    marks = list(item.iter_markers())
    columns = [mark for mark in marks if mark.name == "parametrize"]
    if not columns or not isinstance(item, pytest.Function) or item.cls is not None:
        return ()
    named = [mark.args[0] for mark in columns]
    names = [
        name for each in named for name in (each.split(",") if isinstance(each, str) else each)
    ]
    takes_more = set(item.fixturenames) - _OF_EVERY_TEST != {name.strip() for name in names}
    if takes_more or vars(item.function).get("is_hypothesis_test"):
        return ()
    return (item.function, *sorted(mark.name for mark in marks))


def _whole(rows: Sequence[pytest.Function]) -> pytest.Item:
    if len(rows) == 1:
        return rows[0]
    first = rows[0]

    @wraps(first.function)
    def each_row() -> None:
        __tracebackhide__ = True
        failed = []
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
    name = first.originalname
    whole: pytest.Item = pytest.Function.from_parent(first.parent, name=name, callobj=each_row)
    return whole


def _run(row: pytest.Function) -> None:
    done = row.function(**row.callspec.params)
    if inspect.iscoroutine(done):
        asyncio.run(done)
