"""A tool that a scenario's step runs, not an agent of its own accord."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class ToolAction:
    """One run of a step's tool.

    Attributes:
        idempotency_key: The same for every attempt at the same run: a tool that changes
            something outside must not change it twice under one key.
    """

    tool: str
    parameters: Mapping[str, JsonValue]
    idempotency_key: str
