"""Several places are those that are named, and half of a name is no name."""

from tests.services.tool_memory.memory_world import ask
from tests.tables import with_cases


@with_cases("message", "meant")
def test_one_is_meant_or_none(message: str, meant: str | None) -> None:
    assert ask(message) == meant
