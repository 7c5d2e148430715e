"""What a text says of a field by its name: "weight is 70 kg, …". Pure."""

import re
from collections.abc import Iterator, Sequence

_END = re.compile(r"[,;\n]|\s(?:and|und|et|y)\s|\.(?:\s|$)")
_IS = r"(?:\s(?:is|ist|est|es)\b|:|\s=|,)\s*"

_AGE = re.compile(
    r"(?i)\b(?:i am|i'm|aged?|(?:she|he|patient) is|ich bin|(?:sie|er) ist)\s+(\d{1,3})\b"
)
_BORN = re.compile(
    r"(?i)\b(?:born|geboren|née?|nacid[oa])\s+(?:on |in |am |le |el )?([^,;.\n]{4,30})"
)


def statements_of(names: Sequence[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield each place where `text` says one of `names`: its words, and those of the value."""
    known = "|".join(re.escape(one).replace(r"\ ", r"[ _]") for one in names)
    for found in re.finditer(rf"(?i)\b(?:{known})\b{_IS}", text):
        rest = _END.split(text[found.end() :], maxsplit=1)[0]
        yield text[found.start() : found.end() + len(rest)], rest


def ages_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield where `text` says how old somebody is, and the number."""
    return ((found[0], found[1]) for found in _AGE.finditer(text))


def births_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield where `text` says when somebody was born, and the words of the day."""
    return ((found[0], found[1]) for found in _BORN.finditer(text))
