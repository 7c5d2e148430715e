"""How many things a message means, and whether it means those that are left. Pure."""

import re

from services.language.pointing.request import Request
from services.language.pointing.vocabulary import NUMBER_WORDS, any_of

COUNT = any_of([word for word in NUMBER_WORDS if word != "one"])
_THE_REST = re.compile(r"\b(?:the rest|others|remaining|the other (?!one\b)\w+s?)\b", re.IGNORECASE)
_COUNTED = re.compile(
    rf"\b(?:both|(?:all|the other|these|those) (?P<count>{COUNT}|\d{{1,2}}))\b", re.IGNORECASE
)


def read_count(text: str, found: Request) -> None:
    """Note in `found` how many `text` means ("both", "all three"), and if it means the rest."""
    if (counted := _COUNTED.search(text)) is not None:
        count = (counted["count"] or "two").casefold()
        found.count = NUMBER_WORDS.get(count) or int(count)
    found.rest = _THE_REST.search(text) is not None
