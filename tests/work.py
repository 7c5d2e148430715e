"""How much work something takes, however busy the machine is: the calls it makes, no seconds."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from slipcover.probe import signal


@dataclass(slots=True)
class Calls:
    """Calls of functions, those of the library in C included, and not of coverage’s marks."""

    count: int = 0

    def see(self, frame: FrameType, event: str, arg: Any) -> None:
        if event in ("call", "c_call") and arg is not signal:
            self.count += 1


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Count what this thread calls within the block."""
    calls = Calls()
    sys.setprofile(calls.see)
    try:
        yield calls
    finally:
        sys.setprofile(None)
