"""The tools that steps may run, with their arguments; generated from the team's catalogue."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

_FILE = Path(__file__).with_name("step_tools.json")
_SHAPE = TypeAdapter(dict[str, dict[str, bool]])


@cache
def step_tools() -> Mapping[str, Mapping[str, bool]]:
    """Return by tool the arguments it takes, and whether each one has to be given."""
    return _SHAPE.validate_json(_FILE.read_bytes())
