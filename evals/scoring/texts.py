# ruff: noqa: E501 - patterns
"""Numbers, dates and denials in an answer, read by code of our own. Pure.

It shares nothing with the product, which would only find its own errors right.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_REFERENCE = re.compile(r"\[[A-Za-z]+/[^\]\s]+\]|\[\d+\](?:\([^)]*\))?")
_ISO = re.compile(r"\b\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?\b")
_RANGE = re.compile(
    r"\(?\b(?:ref(?:erence)?\.?(?: range)?:?\s*)?[<>]?\d+(?:\.\d+)?\s*[-–]\s*\d+(?:\.\d+)?[^()\n|]{0,15}\)?"
)
_PAREN = re.compile(r"\((?:ref|normal|range)?[^()]*\d\s*[-–]\s*\d[^()]*\)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:[ ,]\d{3})*(?:\.\d+)?(?:/\d+(?:\.\d+)?)?(?![\w]*-\d)")
_DENIAL = re.compile(
    r"\b(?:no|not|none|never|nothing|without|absent|cannot|couldn.t|n't|nobody|neither|nicht|keine?[mnrs]?|nein|aucune?|pas|ningun[ao]?)\b",
    re.IGNORECASE,
)
_MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december"
]  # fmt: skip
_OTHER_MARKS = str.maketrans({"\u00b2": "2", "\u00b3": "3", "μ": "u", "µ": "u", "\u00a0": " "})


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a text and what stands behind it."""

    text: str
    behind: str
    line: int


def folded(text: str) -> str:
    """Return `text` for comparing: no case, single spaces, plain signs."""
    return " ".join(text.translate(_OTHER_MARKS).casefold().split())


def bare(line: str) -> str:
    """Return a line without source ids, dates and reference ranges."""
    return _RANGE.sub(" ", _PAREN.sub(" ", _ISO.sub(" ", _REFERENCE.sub(" ", line))))


def figures(text: str) -> Iterator[Figure]:
    """Yield the numbers that are no dates, ranges or source ids, in order."""
    for index, line in enumerate(text.splitlines()):
        plain = bare(line)
        for found in _NUMBER.finditer(plain):
            behind = folded(plain[found.end() : found.end() + 24])
            yield Figure(found[0].replace("−", "-").replace(",", ""), behind, index)


def is_same_number(shown: str, recorded: str) -> bool:
    """Whether `shown` is `recorded`, whole or rounded to four significant digits or more."""
    if "/" in recorded or "/" in shown:
        ours, theirs = shown.split("/"), recorded.split("/")
        return len(ours) == len(theirs) and all(map(is_same_number, ours, theirs))
    try:
        one, other = float(shown), float(recorded)
    except ValueError:
        return folded(shown) == folded(recorded)
    return one == other or any(one == float(f"{other:.{digits}g}") for digits in range(4, 12))


def has_unit(figure: Figure, unit: str) -> bool:
    """Whether the figure is followed by `unit` or one of its common spellings."""
    wanted = folded(unit).strip("{}")
    return any(figure.behind.lstrip(" *|").startswith(one) for one in unit_spellings(wanted))


def unit_spellings(unit: str) -> tuple[str, ...]:
    """Return how people write a unit that is recorded as `unit`."""
    known = {
        "mm[hg]": ("mm[hg]", "mmhg", "mm hg"),
        "/min": ("/min", "per minute", "bpm", "beats"),
        "cel": ("cel", "°c", "c"),
        "kg/m2": ("kg/m2",),
        "10*3/ul": ("10*3/ul", "k/ul", "x10", "10^3", "10\u00b3"),
    }
    plain = unit.replace("{", "").replace("}", "")
    return known.get(unit, (unit, plain) if plain else (unit,))


def date_forms(iso: str) -> tuple[str, ...]:
    """Return how an ISO date may be written in an answer, folded; a month's or year's likewise."""
    parts = iso[:10].split("-")
    if len(parts) < 3:
        return (iso,) if len(parts) == 1 else (iso, f"{_MONTHS[int(parts[1]) - 1]} {parts[0]}")
    year, month, day = parts[0], int(parts[1]), int(parts[2])
    name = _MONTHS[month - 1]
    forms = [iso[:10], f"{day} {name} {year}", f"{name} {day}, {year}", f"{name} {day} {year}"]
    forms += [
        f"{day} {name[:3]} {year}",
        f"{name[:3]} {day}, {year}",
        f"{day:02d}.{month:02d}.{year}",
    ]
    return tuple(forms)


def names_date(text: str, iso: str) -> bool:
    """Whether `text` names this day."""
    plain = folded(text)
    return any(form in plain for form in date_forms(iso))


def dates_in(text: str) -> list[str]:
    """Return the ISO days that `text` names, without those inside source ids."""
    return [
        found[0][:10] for found in _ISO.finditer(_REFERENCE.sub(" ", text)) if len(found[0]) >= 10
    ]


def denies(text: str) -> bool:
    """Whether a sentence says that something is not so."""
    return _DENIAL.search(text) is not None
