"""Numbers of a sentence in digits: "two point nine", "stage three B", "1-0-1". Pure."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from services.language.words.statement_words import statement_words

_SPOKEN = re.compile(r"(?i)\b(?P<whole>\w+) (?:point|comma|komma) (?P<rest>[a-zü]+)\b")
_COUNTED = re.compile(
    r"(?i)\b(?P<number>[a-zü]+)(?P<what> (?:years?|months?|weeks?|days?|hours?|cycles?|fractions?"
    r"|kilograms?|kilos?|pounds?|jahren?|monaten?|wochen?|tagen?|stunden?|zyklen|fraktionen|kilogramm|kilo)\b)"
)
_AND_A_HALF = re.compile(
    r"(?i)\b(?P<number>[a-zü]+|\d{1,2})(?: and a half|einhalb)"
    r"(?= (?:years?|months?|weeks?|days?|hours?|jahren?|monaten?|wochen?|tagen?|stunden?)\b)"
)
_OF_A_STAY = re.compile(
    r"(?i)\b(?P<number>[a-z]+|\d{1,3})-(?:night|day)(?= (?:\w+ ){0,2}(?:stay|admission|hospitali))"
)
_AT_AGE = re.compile(
    r"(?i)(?:(?<=\bage of )|(?<=\balter von )|(?<=\bat age )|(?<=\baged )|(?<=\bhe was ))"
    r"(?P<number>[a-zü]+)\b"
)
_AT_AGE_DE = re.compile(
    r"(?i)(?<=\bmit )(?P<number>[a-zäöü]+)"
    r"(?= (?:hatte|war|wurde|bekam|erhielt|erlitt|erkrankte|begann)\b)"
)
_LASTING_ONE = re.compile(
    r"(?i)\b(?P<behind>(?:last(?:ed|ing)|for|within|after|in) (?:about |just |only )?)"
    r"an?(?= (?:hour|day|week|month|year)\b)"
    r"|\b(?P<nach>(?:dauerte|nach|innerhalb|binnen|in) (?:etwa |rund |knapp )?)"
    r"eine[nmrs]?(?= (?:stunde|tag|woche|monat|jahr)(?:s|es)?\b)"
)
_SPOKEN_STAGE = re.compile(
    r"(?i)\b(?P<scale>stage|grade|stadium|grad|cycle|zyklus|course|day|week) (?P<number>[a-zü]+)"
    r"(?: ?(?P<rest>[ABC]))?\b"
)
_OF_ALL = re.compile(
    r"(?i)(?<![.,])\b(?P<number>[a-zü]+|\d{1,3}) (?:of|von|out of|der)(?: the| h(?:is|er)| den)?"
    r" (?P<all>[a-zü]+|\d{1,3})\b"
)
_SHARE_BEHIND = re.compile(
    r"(?i)(?:(?<=^)|(?<=; ))(?:of|von) (?:(?:the|h(?:is|er)|den|seinen|ihren) )?"
    r"(?P<all>[a-zü]+|\d{1,3})(?P<what>(?: [^\W\d]+){1,6}?),? (?:only |just |nur |lediglich )?"
    r"(?P<number>one|two|three|four|five|six|seven|eight|nine|ten|eine[rs]?|zwei|drei|vier|fünf"
    r"|sechs|sieben|acht|neun|zehn|\d{1,3})(?= )"
)
_OF_NODES = re.compile(r"(?i)\b(\d{1,2})/(\d{1,2})(?= (?:lymph )?(?:nodes?|lymphknoten|lk)\b)")
_AGED = re.compile(r"\b(?P<who>(?:Mrs?|Ms|Herrn?|Frau)\.? [\w'’-]+) \((?P<age>\d{1,3})\)")
_MIXTURE = re.compile(
    r"(?<![\d.,/])(?P<one>\d[\d.,]*) ?(?P<unit>mg|µg|mcg|g)/(?P<other>\d{2,}[\d.,]*) ?(?P=unit)\b"
)
_BIRTHDAY = re.compile(
    r"(?i)(?<!day )(?<!tag )\b(?P<when>before|after|vor|nach) (?:(?:s?he|they) turned "
    r"(?P<age>[a-z]+|\d+)|(?:his|her|their|the|seinem|ihrem|dem) "
    r"(?P<nth>[a-zäöüß]+|\d{1,2}(?:st|nd|rd|th|\.)) (?:birthday|geburtstag))\b"
)
_LENGTHS = (
    " year", " month", " week", " day", " hour", " cycle", " fraction", " jahr", " monat", " woche",
    " tag", " stund", " zykl", " fraktion", " kilo", " pound",
)  # fmt: skip
_SCALES = ("stage ", "grade ", "stadium ", "grad ")
_SCHEME = re.compile(r"(?<![\w-])([01])-([01])-([01])(?:-([01]))?(?![\w-])")
_AGE_AND_SEX = re.compile(
    r"(?<![\w.,/-])(?P<age>\d{1,3})(?:\s?-?(?:yo|y/o|yr old|y\.o\.))?\s?(?P<sex>[MF])\b(?!\.\w)"
    r"|(?<![\w.,/-])(?P<years>\d{1,3})\s?-?(?:yo|y/o|y\.o\.)(?!\w)"
)
_YEARS_DE = re.compile(r"(?i)\b(?P<age>\d{1,3})-?\s?jährige(?P<end>[rnsm]?)\b")
_SEXES = {"M": " man", "F": " woman", None: ""}
_TIMES_OF_DAY = ("morning", "noon", "evening", "night")
_TIMES_A_DAY = ("", "once daily", "twice daily", "three times daily", "four times daily")


def with_digits(text: str) -> str:
    """Return `text` with `two point nine` as `2.9`, `stage three B` as `stage 3B`."""
    lower = text.lower()
    for signs, pattern, new in _IN_DIGITS:
        if any(map(lower.__contains__, signs)):
            text = pattern.sub(new, text)
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


def _by_birthday(found: re.Match[str]) -> str:
    """Return "before her first birthday" as an age: below one year."""
    nth = (found["nth"] or found["age"]).lower()
    number = re.sub(r"\D", "", nth) or statement_words().nth.get(nth) or _number(nth)
    sign = "below" if found["when"].lower() in ("before", "vor") else "at least"
    return f"at the age of {sign} {number} years" if number else found.group()


def _aged(found: re.Match[str]) -> str:
    """Return "64M" and "64 yo" in words: a 64-year-old man."""
    return f"{found['age'] or found['years']}-year-old{_SEXES[found['sex']]}"


def _dosed(found: re.Match[str]) -> str:
    """Return "1-0-1" in words: twice daily, morning and evening."""
    given = [one for one, count in zip(_TIMES_OF_DAY, found.groups(), strict=True) if count == "1"]
    return " ".join((_TIMES_A_DAY[len(given)], *given))


_IN_DIGITS: Sequence[
    tuple[Sequence[str], re.Pattern[str], str | Callable[[re.Match[str]], str]]
] = (
    (("m", "f", "y"), _AGE_AND_SEX, _aged),
    (("jährig",), _YEARS_DE, r"\g<age> Jahre alte\g<end>"),
    (("-",), _SCHEME, _dosed),
    (("/",), _OF_NODES, r"\1 of \2"),
    (("(",), _AGED, r"\g<who>, \g<age> years old,"),
    (("g/",), _MIXTURE, r"\g<one>/\g<other> \g<unit>"),
    ((" a ", " an ", " eine"), _LASTING_ONE, r"\g<behind>\g<nach>1"),
    ((" of ", " von ", " der "), _OF_ALL, partial(_in_digits, "{number} of {all}")),
    (("of ", "von "), _SHARE_BEHIND, partial(_in_digits, "{number} of {all}{what}")),
    ((" point ", " comma ", " komma "), _SPOKEN, _written),
    (("-night", "-day"), _OF_A_STAY, partial(_in_digits, "{number} days")),
    ((" and a half", "einhalb"), _AND_A_HALF, partial(_in_digits, "{number}.5")),
    ((" birthday", " geburtstag", " turned "), _BIRTHDAY, _by_birthday),
    (_LENGTHS, _COUNTED, partial(_in_digits, "{number}{what}")),
    (("age ", "aged ", "alter von ", "he was "), _AT_AGE, partial(_in_digits, "{number}")),
    (("mit ",), _AT_AGE_DE, partial(_in_digits, "{number} Jahren")),
    (_SCALES, _SPOKEN_STAGE, partial(_in_digits, "{scale} {number}{rest}")),
)
"""Patterns in their order, what stands for what they find, and the beginnings of words of which
one is always in it: these are far quicker to look for."""
