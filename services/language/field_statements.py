"""What a text says of a field by its name: "weight is 70 kg, …". Pure."""

import re
from collections.abc import Iterator, Sequence

from data_models.scenario import FieldDefinition
from services.language.field_answers import Reading, pattern_of, reading_in

_STATED, _SEEN = 0.97, 0.9
_END = re.compile(r"[,;\n]|\s(?:and|und|et|y)\s|\.(?:\s|$)")
_IS = r"(?:\s(?:is|ist|est|es)\b|:|\s=|,)\s*"

_AGE = re.compile(
    r"(?i)\b(?:i am|i'm|aged?|(?:she|he|patient) is|ich bin|(?:sie|er) ist)\s+(\d{1,3})\b"
)
_BORN = re.compile(
    r"(?i)\b(?:born|geboren|née?|nacid[oa])\s+(?:on |in |am |le |el )?([^,;.\n]{4,30})"
)


def stated_in(field: FieldDefinition, texts: Sequence[str]) -> tuple[Reading, float] | None:
    """Return what the newest of `texts` says of the field in words that name it, and how surely."""
    for text in reversed(texts):
        for quote, words, confidence in _candidates(field, text):
            if (found := reading_in(field, words)) is not None:
                return Reading(found.value, quote.strip()), confidence
    return None


def _candidates(field: FieldDefinition, text: str) -> Iterator[tuple[str, str, float]]:
    """Yield quotes, the words in them that hold the value, and how sure they are."""
    kinds = field.name.split("_")
    shape = _AGE if "age" in kinds else _BORN if "birth" in kinds else None
    stated = [*_statements_of((field.label, field.name), text)]
    stated += [(found[0], found[1]) for found in (shape.finditer(text) if shape else ())]
    yield from ((quote, words, _STATED) for quote, words in stated)
    look = pattern_of(field)
    for found in look.finditer(text) if look is not None else ():
        yield found[0], found[0], _SEEN


def _statements_of(names: Sequence[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield each place where `text` says one of `names`: its words, and those of the value."""
    known = "|".join(re.escape(one).replace(r"\ ", r"[ _]") for one in names)
    for found in re.finditer(rf"(?i)\b(?:{known})\b{_IS}", text):
        rest = _END.split(text[found.end() :], maxsplit=1)[0]
        yield text[found.start() : found.end() + len(rest)], rest
