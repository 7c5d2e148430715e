"""What a user's plain words say about fields that were asked for. Rules only, no model."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from data_models.scenarios.scenario import FieldDefinition
from services.language.figures.full_dates import full_dates
from services.language.pointing.when import when_of
from services.language.replies.corrections import revokes_consent
from services.language.replies.yes_no import truth_in, yes_no_in
from services.language.words.folding import words_of
from services.language.words.in_english import in_english
from services.language.words.phrases import says, without, words_for

TEXT_LIMIT_CHARS = 500
_INTEGER = re.compile(r"(?<![\w.,-])[-+]?\d{1,9}(?![\w]|[.,]\d)")
_NUMBER = re.compile(r"(?<![\w.,-])[-+]?\d{1,9}(?:\.\d{1,9})?(?!\w|[.,]\d)")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PHONE = re.compile(r"(?<!\w)\+?\d[\d ()/-]{4,24}\d(?!\w)")
_NO_THEN = re.compile(r"(?i)^\W*no(?:pe)?\b[\s,.;:-]*(?:(?:it'?s|it is|my [\w ]{1,40} is)\b)?\s*")
_PIECES = re.compile(r"\s*(?:[,;\n]\s*(?:and\s)?|\sand\s)\s*")
_STATED, _SEEN, _STEM = 0.97, 0.9, 5
_DENIES = re.compile(r"(?i)\W*(?:no|not|keine?n?|nicht) (?=\w)")
_END = re.compile(r"[,;\n]|\s(?:and|und|et|y)\s|\.(?:\s|$)")
_IS = r"(?:\s(?:is|ist|est|es)\b|:|\s=|,)\s*"

_AGE = re.compile(
    r"(?i)\b(?:i am|i'm|aged?|(?:she|he|patient) is|ich bin|(?:sie|er) ist)\s+(\d{1,3})\b"
)
_BORN = re.compile(
    r"(?i)\b(?:born|geboren|née?|nacid[oa])\s+(?:on |in |am |le |el )?([^,;.\n]{4,30})"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A value, and the words that say it."""

    value: JsonValue
    quote: str


def reading_in(field: FieldDefinition, text: str) -> Reading | None:
    """Return the value of the field's type that `text` holds; None if there is none, or several."""
    words = text.strip()
    match field.value_type:
        case "boolean":
            truth = truth_in(_EMAIL.sub("", words))  # "jo@…" is no yes
            is_other = revokes_consent(words) or _denies_another(field, words)
            return None if truth is None or is_other else Reading(truth, words)
        case "integer":
            return _only(_INTEGER, words, int)
        case "number":
            return _only(_NUMBER, words, float)
        case "date":
            return _date(words)
        case _:
            return _text(field, words)


def _denies_another(field: FieldDefinition, text: str) -> bool:
    """Whether it denies another thing: "no weight loss", where a consent is asked for."""
    denied = words_of(text)[1:] if _DENIES.match(text) else []
    if not denied or denied[0] in words_for("behind_a_no"):
        return False
    asked = words_of(f"{field.label} {field.question}")
    return not any(one.startswith(each[:_STEM]) for one in asked for each in denied)


def value_in(field: FieldDefinition, text: str) -> JsonValue:
    """Return the value of the field's type that `text` holds; None if there is none, or several."""
    found = reading_in(field, text)
    return None if found is None else found.value


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
            found = _date(words)
            is_ahead = _is_to_come(field) and not without(in_english(words), "day").strip(" ,")
            return is_ahead if found is None else found.quote == words
        case _:
            return pattern is not None and pattern.fullmatch(words) is not None


def out_of_range(field: FieldDefinition, value: JsonValue) -> str:
    """Return why a value of the field's type is not one that it takes; "" if it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    low, high = field.minimum, field.maximum
    if (low is None or value >= low) and (high is None or value <= high):
        return ""
    return f"{field.label} is {taken_by(field)}"


def taken_by(field: FieldDefinition) -> str:
    """Return what a field takes, for people: "a whole number from 0 to 5"."""
    kind = _KINDS.get(field.value_type, "words that answer the question")
    low, high, unit = field.minimum, field.maximum, field.unit and f" {field.unit}"
    if low is not None and high is not None:
        return f"{kind} from {low:g} to {high:g}{unit}"
    if low is not None or high is not None:
        return f"{kind} of at {'least' if high is None else 'most'} {low or high or 0:g}{unit}"
    if pattern_of(field) is not None:
        return "an e-mail address" if pattern_of(field) is _EMAIL else "a phone number"
    return kind + unit


_KINDS = {
    "boolean": "a yes or a no",
    "integer": "a whole number",
    "number": "a number",
    "date": "a date such as 2030-01-31",
}


def answers_in(text: str, fields: Sequence[FieldDefinition]) -> dict[str, JsonValue]:
    """Return the values that one message gives to the fields that were asked for together."""
    return {name: found.value for name, found in readings_in(text, fields).items()}


def readings_in(
    text: str, fields: Sequence[FieldDefinition], *, now: datetime | None = None
) -> dict[str, Reading]:
    """Return what one message says of the fields that were asked for together, each once.

    Several fields are told apart by their names, by their types, or by their order in a list.

    Args:
        now: When it is said; then a day to come may be "Tuesday" or "3 Dec".
    """
    if len(fields) == 1:
        return _found([(fields[0], text)], now)
    named = _by_name(text, fields)
    left = [field for field in fields if field.name not in named]
    pieces = [piece for piece in _PIECES.split(text.strip()) if piece]
    if not named and len(pieces) == len(left):
        found = _found(zip(left, pieces, strict=True), now)
        if len(found) == len(left):
            return found  # else it is no list of them: "no, change the question"
    alone = [field for field in left if _is_alone(field, fields)]
    return named | _found(((field, text) for field in alone), now)


def _found(
    pairs: Iterable[tuple[FieldDefinition, str]], now: datetime | None = None
) -> dict[str, Reading]:
    readings = {f.name: reading_in(f, text) or day_ahead_in(f, text, now) for f, text in pairs}
    return {name: one for name, one in readings.items() if one is not None}


def _by_name(text: str, fields: Sequence[FieldDefinition]) -> dict[str, Reading]:
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


def _text(field: FieldDefinition, words: str) -> Reading | None:
    if (pattern := pattern_of(field)) is not None:
        found = pattern.search(words)
        is_date = pattern is _PHONE and found is not None and bool(full_dates(found[0]))
        return None if found is None or is_date else Reading(found[0].strip(), found[0].strip())
    if words.endswith("?") or len(words) > TEXT_LIMIT_CHARS or not says_something(field, words):
        return None
    return Reading(words, words)


def says_something(field: FieldDefinition, words: str) -> bool:
    """Whether words can be an answer of their own: no bare yes, number, date or address.

    "Monday" is one only where the field is a day's.
    """
    bare = words.strip(" .,;:!")
    if not any(map(str.isalpha, bare)) or yes_no_in(bare) is not None or revokes_consent(bare):
        return False
    is_asked = says(bare, "question") and not says(field.label, "of_question")
    if is_asked or says(bare, "calls_for_time"):
        return False
    dates = full_dates(bare)
    is_date = bool(dates) and (dates[0].start, dates[0].end) == (0, len(bare))
    if not (is_date or says(field.label, "of_when")):
        is_date = not without(in_english(bare), "day").strip()
    return not is_date and _EMAIL.fullmatch(bare) is None


def _only(pattern: re.Pattern[str], words: str, kind: type[int] | type[float]) -> Reading | None:
    dates = full_dates(words)
    found = {
        kind(one[0]): one[0]
        for one in pattern.finditer(words)
        if not any(day.start <= one.start() < day.end for day in dates)
    }
    if len(found) != 1:
        return None
    value, quote = found.popitem()
    return Reading(value, quote)


def _date(words: str) -> Reading | None:
    dates = full_dates(words)
    days = {day for found in dates for day in found.readings}
    if len(days) != 1:
        return None
    return Reading(days.pop().isoformat(), words[dates[0].start : dates[0].end])


def day_ahead_in(field: FieldDefinition, text: str, now: datetime | None) -> Reading | None:
    """Return the one day to come that `text`, said `now`, means; None of any other field.

    "Book him with Jones on Friday" answers nothing.
    """
    if now is None or not _is_to_come(field) or says(text, "work_visits", "orders"):
        return None
    said = when_of(text, now, is_ahead=True)
    if said is None or said.first is None or said.first != said.last or said.first < now.date():
        return None
    return Reading(said.first.isoformat(), text.strip())


def _is_to_come(field: FieldDefinition) -> bool:
    return field.value_type == "date" and says(field.label, "is_to_come")


def confirmation_in(
    field: FieldDefinition, text: str, *, likely: JsonValue
) -> dict[str, JsonValue]:
    """Return what a reply to "is it …, correct?" says of the field: kept, corrected, or denied."""
    said = truth_in(text)
    if said is True and likely is not None:
        return {field.name: likely}
    if field.value_type == "boolean":
        return {} if said is None else {field.name: None}
    rest = _NO_THEN.sub("", text) if said is False else text
    corrected = answers_in(rest, [field])
    return corrected or ({field.name: None} if said is False else {})


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
