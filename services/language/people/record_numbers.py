"""Numbers in a message that may be a patient's: by their form, and by the words before them."""

import re
from collections.abc import Iterable, Sequence

from services.language.charts.chart_entries import chart_nouns
from services.language.figures.full_dates import FullDate
from services.language.people.descriptions import things_asked, values_asked
from services.language.people.mentions import Message
from services.language.words.people_words import of_people

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,63}")
_SPACED = re.compile(r"(?<![\w-])[A-Za-z]{1,6} \d{4,12}(?![\w-])")
_HOUR = re.compile(r"[01]\d[0-5]\d|2[0-3][0-5]\d")
_YEARS = re.compile(r"(?:19|20)\d\d-(?:19|20)\d\d")
_NUMBER_LEAST_CHARS = 5
_LABELLED_LEAST_CHARS = 1


def number_tokens(message: Message, dates: Sequence[FullDate]) -> Iterable[str]:
    """Yield what may be a number of a patient and is no date.

    Short ones only where they are called so, or begin the message: `next: 4713`, `4713 potassium`.
    """
    for one in _TOKEN.finditer(message.text):
        token = one.group().rstrip("._-/")
        if any(date.start < one.end() and one.start() < date.end for date in dates):
            continue
        if not any(map(str.isdigit, token)):
            continue
        is_called = any(labelled_numbers(message, [token], within=1))
        if _YEARS.fullmatch(token) and not is_called:
            continue  # "albumin 2013-2015"
        before = [word.text for word in message.words if word.end <= one.start()]
        if not of_people("phones").isdisjoint(before[-2:]):
            continue  # "her phone is 555-4321"
        begins = of_people("opening", "moves_on").issuperset(before)
        begins = begins and (
            is_bare_number(message, token) or is_heading_number(message, one.start(), token)
        )
        if begins or len(token) >= (_LABELLED_LEAST_CHARS if is_called else _NUMBER_LEAST_CHARS):
            yield token
    yield from (one.group() for one in _SPACED.finditer(message.text))


def is_heading_number(message: Message, start: int, token: str) -> bool:
    """Whether a number heads what is asked of a chart: `70311: potassium?`, `e925: labs`.

    No year does, no age, no hour of four digits, no dose, and no name of a value: `CA125: trend?`.
    """
    behind = message.text[start + len(token) :]
    is_hour = _HOUR.fullmatch(token) is not None or token.startswith(("19", "20"))
    is_fit = len(token) >= _NUMBER_LEAST_CHARS or (len(token) == 4 and not is_hour)
    is_day = token.lower().lstrip("0123456789") in ("st", "nd", "rd", "th", "y", "yo", "ml", "mg")
    is_fit = is_fit and sum(map(str.isdigit, token)) > 1 and not is_day
    is_fit = is_fit and (token.isalnum() or token.replace("-", "").isdigit())
    letters = "".join(filter(str.isalpha, token)).lower()
    asked = [one.text for one in message.words if one.start >= start + len(token)]
    is_next = bool(asked) and asked[0] in things_asked()  # `8770 hb`
    if not (is_fit and (behind[:1] in (":", ",") or is_next)):
        return False
    near = {*asked, letters, token.lower()}
    nouns = near & values_asked() | near & chart_nouns()
    return not nouns.isdisjoint(asked) and nouns.isdisjoint((letters, token.lower()))


def is_bare_number(message: Message, token: str) -> bool:
    """Whether nothing but its place says that four digits may be a patient's number: no year is."""
    is_short = len(token) == _NUMBER_LEAST_CHARS - 1 and token.isdigit()
    is_year = token.startswith(("19", "20"))
    return is_short and not is_year and not any(labelled_numbers(message, [token], within=1))


def labelled_numbers(message: Message, tokens: Sequence[str], *, within: int = 3) -> Iterable[str]:
    """Yield the tokens that one of so many words before them calls a patient's number."""
    lowered = message.text.casefold()
    for token in tokens:
        at = lowered.find(token.casefold())
        words = [one.text for one in message.words if one.end <= at]
        while words and words[-1] in of_people("within"):
            words.pop()  # `MRN ending in 2f7`
        words = words[-within:]
        is_signed = at > 0 and message.text[at - 1] == "#" and len(token) >= _NUMBER_LEAST_CHARS - 1
        is_signed |= token.rstrip("0123456789").rstrip("-").lower() in of_people("numbers")
        if is_signed or any(one in of_people("numbers", "number_ends") for one in words):
            yield token
