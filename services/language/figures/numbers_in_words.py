"""Numbers of a sentence in digits: "two point nine", "stage three B", "1-0-1". Pure."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache, partial
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

from services.language.words.statement_tables import read_table
from services.language.words.statement_words import statement_words

_ON_BIRTHDAY = re.compile(
    r"(?i)\b(?:on|an|(?:on )?(?:(?:the|a|am|einen) |(?P<off>[a-zü]+|\d{1,2}) )(?:days?|tage?n?)"
    r" (?P<when>before|after|vor|nach)) (?:his|her|their|the|seinem|ihrem) "
    r"(?P<nth>[a-zäöüß]+|\d{1,2}(?:st|nd|rd|th|\.)) (?:birthday|geburtstag)\b"
)
_SEXES = {"M": " man", "F": " woman", None: ""}
_TIMES_OF_DAY = ("morning", "noon", "evening", "night")
_TIMES_A_DAY = ("", "once daily", "twice daily", "three times daily", "four times daily")


def with_digits(text: str) -> str:
    """Return `text` with `two point nine` as `2.9`, `stage three B` as `stage 3B`."""
    signs, patterns = _by_sign()
    found = compress(patterns, map(text.lower().__contains__, signs))
    for one in dict.fromkeys(found):
        text = one.pattern.sub(one.new, text)
    return text


def _number(word: str) -> int | None:
    return statement_words().numbers.get(word.lower())


def _written(found: re.Match[str]) -> str:
    parts = [_number(word) for word in (found["whole"], *found["rest"].split())]
    return f"{parts[0]}.{''.join(str(one) for one in parts[1:])}"


def _in_digits(template: str, found: re.Match[str]) -> str:
    """Return `template` with the numbers that are found; what is none stays as it is."""
    said: dict[str, str] = found.groupdict(default="")
    for key in said.keys() & {"number", "all"}:
        if not said[key].isdigit():
            said[key] = str(_number(said[key]) or "")
        if not said[key]:
            return found.group()
    return template.format(**said)


def _nth(word: str) -> int | None:
    return int(re.sub(r"\D", "", word) or 0) or statement_words().nth.get(word) or _number(word)


def _by_birthday(found: re.Match[str]) -> str:
    """Return "before her first birthday" as an age: below one year."""
    number = _nth((found["nth"] or found["age"]).lower())
    sign = "below" if found["when"].lower() in ("before", "vor") else "at least"
    return f"at the age of {sign} {number} years" if number else found.group()


def on_birthdays(text: str, born: date) -> str:
    """Return `text` with the day for "on her 50th birthday", "two days after his 38th birthday"."""
    is_told = "irthday" in text or "eburtstag" in text
    return _ON_BIRTHDAY.sub(partial(_day_of_birthday, born), text) if is_told else text


def _day_of_birthday(born: date, found: re.Match[str]) -> str:
    years, off = _nth(found["nth"].lower()), found["off"] or "one"
    days = int(off) if off.isdigit() else _number(off)
    if not years or not days:
        return found.group()
    which = {"before": -1, "vor": -1, None: 0}.get(found["when"] and found["when"].lower(), 1)
    return f"on {born + relativedelta(years=years, days=which * days)}"


def _aged(found: re.Match[str]) -> str:
    """Return "64M" and "64 yo" in words: a 64-year-old man."""
    return f"{found['age'] or found['years']}-year-old{_SEXES[found['sex']]}"


def _dosed(found: re.Match[str]) -> str:
    """Return "1-0-1" in words: twice daily, morning and evening."""
    given = [one for one, count in zip(_TIMES_OF_DAY, found.groups(), strict=True) if count == "1"]
    return " ".join((_TIMES_A_DAY[len(given)], *given))


class _Pattern(NamedTuple):
    """A pattern with what stands for what it finds."""

    pattern: re.Pattern[str]
    new: str | Callable[[re.Match[str]], str]


@cache
def _by_sign() -> tuple[Sequence[str], Sequence[_Pattern]]:
    """Return signs, far quicker to look for, and the pattern that finds nothing without each."""
    by = {"aged": _aged, "dosed": _dosed, "written": _written, "by_birthday": _by_birthday}
    signs, patterns = list[str](), list[_Pattern]()
    for one in read_table(Path(__file__).with_suffix(".yaml"))["patterns"]:
        new = one.get("new") or by.get(one.get("by", "")) or partial(_in_digits, one["digits"])
        signs += one["signs"]
        patterns += [_Pattern(re.compile(one["pattern"]), new)] * len(one["signs"])
    return signs, patterns
