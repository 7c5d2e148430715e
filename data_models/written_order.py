"""Texts of elsewhere as they are written, where people read them."""

import re

# Overrides and isolates of direction: after one, "50 mg" may be drawn as "gm 05". Texts that run
# from right to left need none of them. Nor does any text need signs that part a word unseen.
_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069\u00ad\u200b\u2060\ufeff]")


def in_written_order(text: str) -> str:
    """Return `text` without signs that have it shown otherwise than it is written."""
    return text if text.isascii() else _OVERRIDES.sub("", text)
