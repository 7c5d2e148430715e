"""What the offline rules answer with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to call, by its name on the wire."""

    wire_name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OfflineReply:
    """Text, tool calls, or both; after tool calls the rules are asked again."""

    text: str = ""
    calls: tuple[Call, ...] = ()
