"""Texts of elsewhere as they are written, where people read them."""

import re

# Overrides and isolates of direction: after one, "50 mg" may be drawn as "gm 05". Texts that run
# from right to left need none of them.
_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")


def in_written_order(text: str) -> str:
    """Return `text` without signs that have it shown in another order than it is written."""
    return text if text.isascii() else _OVERRIDES.sub("", text)
