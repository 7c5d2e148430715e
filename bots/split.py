"""Cuts a long text into messages that a channel takes."""

import orjson

TEXT_LIMIT_BYTES = 20_000
"""Teams takes about 28 kB a message, in UTF-16 and with all that stands around the text."""

_BREAKS = ("\n\n", "\n", ". ", " ")


def wire_size(text: str) -> int:
    """Return the bytes of `text` as the channel may count them, whichever way it does."""
    return max(len(orjson.dumps(text)), len(text.encode("utf-16-le")))


def split_text(
    text: str, *, limit_bytes: int = TEXT_LIMIT_BYTES, first_chars: int = 0
) -> list[str]:
    """Return `text` in parts of at most `limit_bytes`, cut where a reader would pause.

    Args:
        first_chars: What the first part holds at least, if that fits.
    """
    parts: list[str] = []
    rest = text
    while wire_size(rest) > limit_bytes:
        head = rest[: _fitting(rest, limit_bytes)]
        cut = _pause(head, first_chars if not parts else 0)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip("\n")
    return [part for part in (*parts, rest) if part]


def _fitting(text: str, limit_bytes: int) -> int:
    """Return the greatest number of leading characters that fit, at least one."""
    low, high = 1, min(len(text), limit_bytes)
    while low < high:
        middle = (low + high + 1) // 2
        if wire_size(text[:middle]) <= limit_bytes:
            low = middle
        else:
            high = middle - 1
    return low


def _pause(head: str, least_chars: int) -> int:
    """Return where to cut: the last pause in the second half of `head`, else its end."""
    for pause in _BREAKS:
        at = head.rfind(pause, max(len(head) // 2, least_chars))
        if at >= 0:
            return at + len(pause)
    return len(head)
