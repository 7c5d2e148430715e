"""What a user's plain words say about fields that were asked for. Rules only, no model."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from pydantic import JsonValue

from data_models.scenario import FieldDefinition
from services.language.yes_no import truth_in, yes_no_in

TEXT_LIMIT_CHARS = 500
_INTEGER = re.compile(r"(?<![\w.,-])[-+]?\d{1,9}(?![\w]|[.,]\d)")
_NUMBER = re.compile(r"(?<![\w.,-])[-+]?\d{1,9}(?:\.\d{1,9})?(?!\w|[.,]\d)")
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_DOTTED = re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = "(" + "|".join(_MONTHS) + r")[a-z]*\.?"
_DAY_MONTH = re.compile(rf"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},? (\d{{4}})\b")
_MONTH_DAY = re.compile(rf"(?i)\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PHONE = re.compile(r"(?<!\w)\+?\d[\d ()/-]{4,24}\d(?!\w)")
_PIECES = re.compile(r"\s*(?:[,;\n]\s*(?:and\s)?|\sand\s)\s*")


def value_in(field: FieldDefinition, text: str) -> JsonValue:
    """Return the value of the field's type that `text` holds; None if there is none, or several."""
    words = text.strip()
    match field.value_type:
        case "boolean":
            return truth_in(words)
        case "integer":
            return _only(_INTEGER, words, int)
        case "number":
            return _only(_NUMBER, words, float)
        case "date":
            return _date(words)
        case _:
            return _text(field, words)


def is_plainly(field: FieldDefinition, text: str) -> bool:
    """Whether `text` is a value of the field and nothing else; a free text never is."""
    words = text.strip().rstrip(".!")
    pattern = pattern_of(field)
    match field.value_type:
        case "boolean":
            return yes_no_in(words) in ("yes", "no") or words.casefold() in ("true", "false")
        case "integer" | "number":
            return _NUMBER.fullmatch(words) is not None and value_in(field, words) is not None
        case "date":
            is_date = any(one.fullmatch(words) for one in (_ISO, _DOTTED, _DAY_MONTH, _MONTH_DAY))
            return is_date and _date(words) is not None
        case _:
            return pattern is not None and pattern.fullmatch(words) is not None


def answers_in(text: str, fields: Sequence[FieldDefinition]) -> dict[str, JsonValue]:
    """Return the values that one message gives to the fields that were asked for together.

    Several fields are told apart by their names, by their types, or by their order in a list.
    """
    if len(fields) == 1:
        value = value_in(fields[0], text)
        return {} if value is None else {fields[0].name: value}
    named = _by_name(text, fields)
    left = [field for field in fields if field.name not in named]
    pieces = [piece for piece in _PIECES.split(text.strip()) if piece]
    if not named and len(pieces) == len(left):
        return _found(zip(left, pieces, strict=True))
    alone = [field for field in left if _is_alone(field, fields)]
    return named | _found((field, text) for field in alone)


def _found(pairs: Iterable[tuple[FieldDefinition, str]]) -> dict[str, JsonValue]:
    values = {field.name: value_in(field, text) for field, text in pairs}
    return {name: value for name, value in values.items() if value is not None}


def _by_name(text: str, fields: Sequence[FieldDefinition]) -> dict[str, JsonValue]:
    """Read "name: value" and "my name is value" where the message names the field."""
    pairs: list[tuple[FieldDefinition, str]] = []
    for field in fields:
        label = re.escape(field.label).replace(r"\ ", r"[ _]")
        found = re.search(rf"(?i)\b(?:{label}|{re.escape(field.name)})\b\s*(?:is|:|=|-)?\s*", text)
        if found is not None:
            rest = text[found.end() :]
            pairs.append((field, _PIECES.split(rest, maxsplit=1)[0]))
    return _found(pairs)


def _is_alone(field: FieldDefinition, fields: Sequence[FieldDefinition]) -> bool:
    """Whether a value of this shape can mean no other of the fields."""
    shape = _shape(field)
    if shape == "text":
        return False
    alike = {"integer", "number"} if shape in ("integer", "number") else {shape}
    return sum(_shape(one) in alike for one in fields) == 1


def _shape(field: FieldDefinition) -> str:
    """Return the type, or what kind of text it is, as far as that can be told by its look."""
    if field.value_type not in ("text", "any"):
        return field.value_type
    pattern = pattern_of(field)
    return pattern.pattern if pattern is not None else "text"


def pattern_of(field: FieldDefinition) -> re.Pattern[str] | None:
    """Return the look of a text field whose name says that it has one, such as an address."""
    named = f"{field.name} {field.label}".casefold()
    if "mail" in named:
        return _EMAIL
    return _PHONE if "phone" in named or "telephone" in named else None


def _text(field: FieldDefinition, words: str) -> str | None:
    pattern = pattern_of(field)
    if pattern is not None:
        found = pattern.search(words)
        return found[0].strip() if found is not None else None
    if not words or words.endswith("?") or len(words) > TEXT_LIMIT_CHARS:
        return None
    return words


def _only(pattern: re.Pattern[str], words: str, kind: type[int] | type[float]) -> JsonValue:
    found = {kind(one) for one in pattern.findall(words)}
    return found.pop() if len(found) == 1 else None


def _date(words: str) -> str | None:
    found = {one for one in (_ymd(*parts) for parts in _dates(words)) if one is not None}
    return found.pop() if len(found) == 1 else None


def _dates(words: str) -> Iterator[tuple[str, str, str]]:
    for year, month, day in _ISO.findall(words):
        yield year, month, day
    for day, month, year in _DOTTED.findall(words):
        yield year, month, day
    for day, month, year in _DAY_MONTH.findall(words):
        yield year, str(_MONTHS.index(month.lower()) + 1), day
    for month, day, year in _MONTH_DAY.findall(words):
        yield year, str(_MONTHS.index(month.lower()) + 1), day


def _ymd(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
