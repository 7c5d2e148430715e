"""What the built-in rules say around what tools gave, in the language of the user.

`<language>/talk.yaml` holds the texts by name; `{…}` is filled in. English has them all, German
too; another language that lacks one says it in English.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache

from babel.dates import format_date, format_datetime, get_day_names, get_month_names

from services.language.words.vocabulary import LANGUAGES, read_words

_FIRST = LANGUAGES[0]
_DAY = "EEE d MMM"
_PART = re.compile(r"\\\{(\w+)\\\}")


def talk_text(language: str, name: str, /, **parts: object) -> str:
    """Return the text `name` in `language`, ISO 639-1, filled in with `parts`.

    Raises:
        ConfigurationError: the file cannot be read or used.
        KeyError: there is no such text, or it needs a part that is not given.
    """
    texts = _texts(language) if language in LANGUAGES else {}
    text = texts.get(name) or _texts(_FIRST)[name]
    return text.format(**parts) if parts else text


def has_text(name: str) -> bool:
    """Whether there is such a text."""
    return name in _texts(_FIRST)


@cache
def in_every_language(name: str) -> tuple[str, ...]:
    """Return how the text `name` may have been said, in any language."""
    return tuple(dict.fromkeys(talk_text(language, name) for language in LANGUAGES))


def behind_text(text: str, name: str) -> str:
    """Return what stands behind our own text of that name, in any language; "" if nothing does."""
    own = next((one for one in in_every_language(name) if one in text), "")
    return text.partition(own)[2].strip() if own else ""


def without_others(text: str) -> str:
    """Return `text` to where it tells, in any language, of whom a talk was: of others too."""
    said = next((one for one in _of_others() if one in text), "")
    return f"{text.partition(said)[0]}{said.rstrip(' :')}." if said else text


@cache
def _of_others() -> tuple[str, ...]:
    said = in_every_language("many_discussed")
    return tuple(one.rpartition("{")[0].rpartition("}")[2] for one in said)


def ends_with_text(text: str, name: str) -> bool:
    """Whether `text` ends with our own text of that name, in any language."""
    return text.rstrip().endswith(in_every_language(name))


def day_text(
    language: str, when: date | datetime, *, has_time: bool = False, has_year: bool = False
) -> str:
    """Return a day, its year and its time, as a short line names them: `Wed 2 Dec 08:00`."""
    locale = language if language in LANGUAGES else _FIRST
    form = f"{_DAY} y" if has_year else _DAY
    if has_time and isinstance(when, datetime):
        return format_datetime(when, f"{form} HH:mm", locale=locale).replace(".", "")
    return format_date(when, form, locale=locale).replace(".", "")


def day_near(when: datetime, now: datetime, *, has_time: bool) -> str:
    """Return a day as questions name it, in English; one of another year with it."""
    has_year = when.year != now.astimezone(when.tzinfo).year
    return day_text(_FIRST, when, has_time=has_time, has_year=has_year)


def day_shown(text: str, language: str) -> str:
    """Return `text`, a day as `day_near` gives it, with the names of days and months put anew."""
    words = _day_words(language)
    return " ".join(words.get(one, one) for one in text.split())


@cache
def _day_words(language: str) -> Mapping[str, str]:
    english, other = (
        [
            *get_day_names("abbreviated", locale=one).values(),
            *get_month_names("abbreviated", locale=one).values(),
        ]
        for one in (_FIRST, language)
    )
    return dict(zip(english, (one.replace(".", "") for one in other), strict=True))


@cache
def _texts(language: str) -> Mapping[str, str]:
    return read_words(language, "talk", dict[str, str])


def told_in(name: str, line: str) -> Mapping[str, str] | None:
    """Return the parts of `line` if it is the text `name`, in any language; None otherwise."""
    found = (one.fullmatch(line) for one in _forms(name))
    return next((each.groupdict() for each in found if each is not None), None)


def tells_made(text: str) -> bool:
    """Whether `text` tells that a task or an event was just added or moved."""
    title = text.partition("\n")[0].strip("*")
    made = ("title_add_task", "title_move_task", "title_create_event", "title_move_event")
    return any(told_in(one, title) is not None for one in made)


@cache
def _forms(name: str) -> tuple[re.Pattern[str], ...]:
    patterns = (re.escape(text) for text in in_every_language(name))
    return tuple(re.compile(_PART.sub(r"(?P<\1>.+)", one)) for one in patterns)
