"""Broken lines are made one at a time, and the targets are there."""

import ast
from pathlib import Path

import pytest

from scripts.mutate import TARGETS, Mutant, is_noticed, main, mutants
from scripts.workshop import ROOT

SOURCE = """
def is_late(at: int, now: int, known: bool) -> bool:
    return known and not at >= now + 3
"""


def test_each_mutant_turns_one_thing_around() -> None:
    found = list(mutants(SOURCE))
    assert sorted(mutant.change for mutant in found) == [
        "+bool(at >= now + 3)",
        "4",
        "at > now + 3",
        "known or not at >= now + 3",
    ]
    assert {mutant.line for mutant in found} == {3}
    assert all(ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(SOURCE)) for mutant in found)


def test_every_target_and_its_tests_are_there() -> None:
    named = [*TARGETS, *(test for tests in TARGETS.values() for test in tests)]
    assert [one for one in named if not (ROOT / one).exists()] == []


@pytest.mark.slow
def test_a_mutant_is_noticed_by_a_test_and_put_back(tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to((ROOT / ".venv").resolve())
    (tmp_path / "part.py").write_text("LIMIT = 3\n", encoding="utf-8")
    test = tmp_path / "test_part.py"
    test.write_text("from part import LIMIT\n\n\ndef test_it():\n    assert LIMIT == 3\n", "utf-8")
    assert is_noticed(Mutant(1, "4", "LIMIT = 4\n"), "part.py", ["test_part.py"], tmp_path)
    assert not is_noticed(Mutant(1, "3", "LIMIT = 3  #\n"), "part.py", ["test_part.py"], tmp_path)
    assert (tmp_path / "part.py").read_text(encoding="utf-8") == "LIMIT = 3\n"


def test_what_is_no_target_is_refused_with_those_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["app.py"])
    assert (
        "app.py is no target; known: data_models/conversations/claim.py" in capsys.readouterr().err
    )
