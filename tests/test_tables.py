"""Tables of cases: each is read by the test beside it, and runs whole."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tables import chooses_rows, tables_beside, whole_table

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


@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.xfail)])
def is_odd_but_for_one_row(number: int) -> None:
    assert number % 2 == 1


@pytest.mark.parametrize("number", [1, 2])
def is_a_folder_of_its_own(number: int, tmp_path: Path) -> None:
    assert tmp_path.is_dir()


def whole(test: Callable[..., object], request: pytest.FixtureRequest) -> pytest.Item | None:
    return whole_table(request.node.parent, test.__name__, test)


def test_a_row_that_fails_is_named_and_hides_no_other(request: pytest.FixtureRequest) -> None:
    one, two = whole(is_odd, request), whole(is_odd_in_its_own_loop, request)
    assert one is not None
    assert two is not None
    with pytest.raises(AssertionError) as single:
        one.runtest()
    assert single.value.__notes__ == ["In row [2]."]
    with pytest.raises(ExceptionGroup, match="2 of 3 rows") as several:
        two.runtest()
    assert [row.__notes__ for row in several.value.exceptions] == [["In row [2]."], ["In row [4]."]]


@pytest.mark.parametrize("test", [whole, is_odd_but_for_one_row, is_a_folder_of_its_own])
def test_what_is_no_plain_table_stays_as_it_is(
    test: Callable[..., object], request: pytest.FixtureRequest
) -> None:
    assert whole(test, request) is None


def test_a_row_that_is_asked_for_by_its_name_runs_alone() -> None:
    assert chooses_rows(["tests/test_tables.py::test_a_thing[2]"], "")
    assert chooses_rows(["tests"], "thing and not 2")
    assert not chooses_rows(["tests/test_tables.py::test_a_thing"], "")
