"""Definitions in files, each read once a process: a `Graph` is not changed by who runs it."""

from functools import cache
from pathlib import Path

from services.scenarios.definition.definition_reader import read_definition
from services.scenarios.definition.graph import Graph


@cache
def definition_in(file: Path) -> Graph:
    """Return the checked version that the file defines."""
    return read_definition(file.read_text("utf-8"))
