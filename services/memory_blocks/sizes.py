"""How long a block is, and how long it may be: the one measure (spec page 4.1)."""

from typing import Any

import orjson

HISTORY_LIMIT_CHARS = 32_000
SESSION_LIMIT_CHARS = 4_000
SUMMARY_LIMIT_CHARS = 8_000


def stored_text(block: Any) -> str:
    """Return the very string that is stored: the text itself, or compact JSON."""
    return block if isinstance(block, str) else orjson.dumps(block).decode()


def size_chars(block: Any) -> int:
    """Return the length of a block, or of a part of one, in characters."""
    return len(stored_text(block))


def utilization_percent(size: int, limit: int) -> float:
    """Return `size` in percent of `limit`, to one decimal."""
    return round(size / limit * 100, 1)
