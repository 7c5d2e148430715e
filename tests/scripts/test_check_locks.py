"""The lock check must see each fault it is there for."""

import json

import pytest

from scripts import check_locks
from tests.tables import with_cases

HASH = "    --hash=sha256:" + "0" * 64
GOOD = f"alpha==1.0 ; sys_platform == 'win32' \\\n{HASH}\n    # via beta\nbeta[x]==2 \\\n{HASH}\n"


def test_hashes_without_addresses_pass() -> None:
    assert list(check_locks.problems_of_python_lock("a.txt", GOOD)) == []


@pytest.mark.parametrize(
    "line", ["--index-url https://pypi.example/simple", "gamma @ file:///tmp/gamma.whl"]
)
def test_an_address_is_found(line: str) -> None:
    assert list(check_locks.problems_of_python_lock("a.txt", f"{line}\n{GOOD}"))


def test_a_pin_without_a_hash_is_found() -> None:
    found = list(check_locks.problems_of_python_lock("a.txt", f"{GOOD}gamma==3\n    # via alpha\n"))
    assert len(found) == 1
    assert "gamma==3" in found[0]


def test_a_lock_of_tests_must_hold_the_whole_server() -> None:
    assert list(check_locks.problems_of_superset({"a": "1"}, {"a": "1", "b": "2"})) == []
    assert len(list(check_locks.problems_of_superset({"a": "1", "b": "2"}, {"a": "2"}))) == 2


@with_cases("facts", "number")
def test_npm_locks_hold_hashes_and_no_addresses(facts: dict[str, str], number: int) -> None:
    lock = json.dumps({"packages": {"": {"name": "x"}, "node_modules/a": facts}})
    assert len(list(check_locks.problems_of_npm_lock("package-lock.json", lock))) == number


def test_a_path_of_one_machine_is_found() -> None:
    home = "/home" + "/ada/rounds"
    assert list(check_locks.problems_of_text("a.py", f'open("{home}")'))
    assert list(check_locks.problems_of_text("a.py", "GET /api/home/x, src/root/y")) == []


@pytest.mark.slow
def test_our_own_locks_pass() -> None:
    assert list(check_locks.problems()) == []
