"""Several places are those that are named, and half of a name is no name."""

import pytest

from tests.services.tool_memory.memory_world import ask


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("cancel the dentist, no, the standup", "evt_7"),
        ("cancel dentist wed", "evt_1"),
        ("cancel the dentist bill", None),
        ("I won't miss the standup", None),
    ],
)
def test_one_is_meant_or_none(message: str, meant: str | None) -> None:
    assert ask(message) == meant
