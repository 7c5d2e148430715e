"""Tables of cases: each is read by the test beside it, and runs whole."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tables import in_whole_tables, tables_beside

TESTS = Path(__file__).parent
WITH_TABLES = sorted(
    file
    for file in TESTS.rglob("test_*.py")
    if file.with_suffix(".yaml").exists() and "tests.tables" in file.read_text("utf-8")
)


def test_every_table_has_its_test() -> None:
    unread = [
        f"{file.relative_to(TESTS)}: {table}"
        for file in WITH_TABLES
        for table in tables_beside(file)
        if f"test_{table}(" not in (text := file.read_text("utf-8")) and f'"{table}"' not in text
        if file.stem != "test_prose_patterns"  # its keys are files of the product
    ]
    assert len(WITH_TABLES) > 20
    assert unread == []


@pytest.mark.parametrize("number", [1, 2, 3])
def is_odd(number: int) -> None:
    assert number % 2 == 1


@pytest.mark.parametrize("number", [1, 2, 4])
async def is_odd_in_its_own_loop(number: int) -> None:
    assert number % 2 == 1


def rows_of(test: Callable[..., object], request: pytest.FixtureRequest) -> list[pytest.Item]:
    return list(request.node.parent._genfunctions(test.__name__, test))


def test_a_row_that_fails_is_named_and_hides_no_other(request: pytest.FixtureRequest) -> None:
    (one,), (two,) = (
        in_whole_tables(rows_of(test, request)) for test in (is_odd, is_odd_in_its_own_loop)
    )
    with pytest.raises(AssertionError) as single:
        one.runtest()
    assert single.value.__notes__ == ["In row [2]."]
    with pytest.raises(ExceptionGroup, match="2 of 3 rows") as several:
        two.runtest()
    assert [row.__notes__ for row in several.value.exceptions] == [["In row [2]."], ["In row [4]."]]


def test_a_row_that_is_asked_for_alone_keeps_its_id(request: pytest.FixtureRequest) -> None:
    (row,) = in_whole_tables(rows_of(is_odd, request)[1:2])
    assert row.name == "is_odd[2]"
