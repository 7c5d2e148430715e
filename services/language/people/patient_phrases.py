"""The plain wordings that code understands by itself, as patterns over a text's shape.

A shape is lower-case text with `<id>`, `<unfit>` and `<15>` in place of ids and numbers
(`candidates.Candidates.shape`). What these patterns do not know, a model is asked. What each means
stands beside it in `patients.yaml`.
"""

import re
from functools import cache

from services.language.words.expressions import expressions


@cache
def wording(name: str) -> re.Pattern[str]:
    """Return the pattern of `patients.yaml` that is called so."""
    return expressions("patients").compiled(name)


def behind_leads(text: str) -> int:
    """Return where `text` begins behind all its polite and addressing words."""
    place, lowered = 0, text.lower()
    while (lead := wording("lead").match(lowered, place)) is not None:
        place = lead.end()
    return place
