import ast
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from services.turn.phases import ClaimedTurn, GroundedTurn, LoadedTurn, UnderstoodTurn

_SERVICES = Path("services")


def _stores(tree: ast.AST) -> list[str]:
    """Return which attributes of a turn's record, or of the turn itself, are assigned."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    ]
    return [ast.unparse(one) for one in found if ast.unparse(one.value).endswith("turn.record")]


def test_an_assignment_to_a_record_is_seen() -> None:
    assert _stores(ast.parse("turn.record.outcome = 'x'")) == ["turn.record.outcome"]


def test_only_its_own_methods_change_a_turns_record() -> None:
    sources = [*_SERVICES.glob("turn/*.py"), _SERVICES / "turn_pipeline.py"]
    written = {str(one): _stores(ast.parse(one.read_text("utf-8"))) for one in sources}
    assert {file: names for file, names in written.items() if names} == {}


@pytest.mark.parametrize("phase", [ClaimedTurn, LoadedTurn, UnderstoodTurn, GroundedTurn])
def test_a_phase_is_frozen(phase: type[ClaimedTurn]) -> None:
    turn = object.__new__(phase)
    for one in fields(phase):
        with pytest.raises(FrozenInstanceError):
            setattr(turn, one.name, None)
