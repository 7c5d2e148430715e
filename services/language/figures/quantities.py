"""Numbers with units as people write them: `4.1 mmol/L`, `<0,5 %`, `128/76 mmHg`, `5 mg`."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from services.language.words.expressions import expressions

_NUMBER = re.compile(
    r"(?<![\w.,:/])(?<!\w[-/])(?P<sign>(?<![^\s(])[-−](?=\d))?(?P<cmp>[<>≤≥]=?)?\s?"
    r"(?P<num>\d+(?:[.,]\d+)*)"
    r"(?:\s?/\s?(?P<pair>\d{2,3}(?:[.,]\d+)?)(?![\w/]|[.,]\d|\s?/))?"
    r"(?![\w]*[A-Z]\d)"
)
_UNIT = re.compile(
    r"\s?(?P<power>(?:[x×·]\s?)?10(?:[*^]\d+|[⁰¹²³⁴-⁹]+|e\d+)\s?/\s?[µμumn]?[lL])"
    r"|[\s-]?(?P<unit>(?:pack[- ]years?|%|‰|°\s?[CF]|/[a-zA-Zµμ]+|[A-Za-zµμ\[{][\w\[\]{}µμ.*^²³]*"
    r"(?:/[\w\[\]{}µμ.*^²³]+){0,3}(?:(?<=1\.73) m[²2]\b)?))"
)
_UNIT_WITH_SLASH = re.compile(
    r"(?:\b(?:in|as|to|als|en) )?(?<![\w/])"
    r"(?P<unit>[a-zµμ%][\wµμ\[\]]*\s?/\s?[a-zµμ][\wµμ]*)(?![\w/])",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?<![\w.,:])\d{1,2}:\d\d(?::\d\d)?(?:\s?(?:Uhr|[ap]\.?m\.?))?(?![\w:])")
_RANGE_DASH = re.compile(
    r"(?<![\w-])(?P<low>\d[\d.,]*)(?P<dash>\s?[-–—]\s?)(?=\d+(?:[.,]\d+)*(?![\w-]*[a-z]-))"
)
TIME_UNITS = frozenset({"a", "mo", "wk", "d"})
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_COMPARATORS = str.maketrans({"≤": "<=", "≥": ">="})

_UNITS = expressions("units")
_CODES = {said: code for code in _UNITS.listed for said in _UNITS.words(code)}
_CASED = {
    "L": "L",
    "l": "L",
    "m": "m",
    "G/l": "10*9/L",
    "G/L": "10*9/L",
    **dict.fromkeys("MGAEHSDa", ""),
}

_FIGURE = re.compile(r"(?P<number>\d+(?:[.,]\d+)?(?:/\d+)?) ?(?P<counted>(?:[^\W\d].*|%)?)")
_COUNT = re.compile(r"(?<![\w.,/])\d+(?:[.,]\d+)?(?:/\d+)?(?![\d/]|[.,]\d)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written.

    Attributes:
        readings: What the number may be: `1,234` has two.
        decimals: How many of its digits stand behind the point.
        unit: In UCUM where it is a known one, "" where none is written.
        comparator: `<`, `>`, `<=`, `>=` or "".
        pair: The second number of `128/76`.
    """

    start: int
    end: int
    readings: tuple[float, ...]
    decimals: int
    unit: str = ""
    comparator: str = ""
    pair: float | None = None

    @property
    def number(self) -> float:
        """The likeliest reading."""
        return self.readings[0]


def with_figure(said: str, new: str, *, instead_of: str = "") -> str | None:
    """Return `said` with its one number that `new` puts right; None where none or several may be.

    What is measured or counted must stand behind it there, too: `850 mg`, `20 a day`. Another word
    stands where the one that was wrong did.

    Args:
        instead_of: The figure that was wrong, if that is said.
    """
    right, wrong = _FIGURE.fullmatch(new.strip()), _FIGURE.fullmatch(instead_of.strip())
    if right is None or (instead_of and wrong is None):
        around = re.split(rf"\b{re.escape(instead_of)}\b", said) if instead_of else ()
        return new.join(around) if len(around) == 2 else None
    counted = right["counted"] or ("" if wrong is None else wrong["counted"])
    unit = quantities_in(f"1 {counted}")[0].unit
    same = {one.start for one in quantities_in(said) if unit and one.unit == unit}
    fitting = [
        one
        for one in _COUNT.finditer(said)
        if (one.start() in same or _begins(said[one.end() :].lstrip(), counted))
        and ("/" in one[0]) == ("/" in right["number"])  # "no, 140/85" is of a pressure
        and (wrong is None or one[0] == wrong["number"])
    ]
    if len(fitting) != 1:
        return None
    return f"{said[: fitting[0].start()]}{right['number']}{said[fitting[0].end() :]}"


def _begins(text: str, words: str) -> bool:
    rest = text[len(words) :]
    return text.casefold().startswith(words.casefold()) and not (words and rest[:1].isalnum())


def quantities_in(text: str) -> list[Quantity]:
    """Return the numbers of `text` from the left with their units; times of day are none."""
    text = _TIME.sub(lambda time: " " * len(time.group()), text) if ":" in text else text
    text = _RANGE_DASH.sub(lambda one: one["low"] + " " * len(one["dash"]), text)
    found: list[Quantity] = []
    end = 0
    for one in _NUMBER.finditer(text):
        if one.start("num") < end:
            continue
        unit, end = _unit_at(text, one.end())
        if not unit and text[end : end + 1].isalpha():
            continue  # the name of something: "station 4R"
        readings, decimals = _readings(one["num"])
        sign = -1.0 if one["sign"] else 1.0
        found.append(
            Quantity(
                start=one.start("num"),
                end=end,
                readings=tuple(sign * number for number in readings),
                decimals=decimals,
                unit=unit,
                comparator=(one["cmp"] or "").translate(_COMPARATORS).replace("==", "="),
                pair=float(one["pair"].replace(",", ".")) if one["pair"] else None,
            )
        )
    return _measured_across(text, found)


def _measured_across(text: str, found: list[Quantity]) -> list[Quantity]:
    """Return numbers, the first of `24 x 19 mm`, `125/74 and 130/82 mmHg` with its unit, too."""
    with_comma = [one for one in found if "," in text[one.start : one.end]]
    for one in with_comma if any(one.decimals for one in with_comma) else ():
        if len(one.readings) > 1:  # beside `4,35` the comma of `3,699` parts decimals, too
            found[found.index(one)] = replace(one, readings=one.readings[::-1], decimals=3)
    for at in range(len(found) - 2, -1, -1):
        one, behind = found[at], found[at + 1]
        signs = ("x", "×") if one.pair is None or behind.pair is None else ("and", "und", ",", "to")
        if not one.unit and text[one.end : behind.start].strip() in signs:
            found[at] = replace(one, unit=behind.unit)
    return found


@lru_cache(maxsize=4_000)
def unit_code(text: str) -> str:
    """Return a written unit in UCUM; as written where it is unknown, "" for an unknown word."""
    plain = text.strip().replace("µ", "u").replace("μ", "u").replace(" ", "").replace("×", "")
    plain = plain.removeprefix("·")
    if (cased := plain.rstrip(".,;")) in _CASED:
        return _CASED[cased]
    plain = plain.translate(_SUPERSCRIPTS) if plain.startswith(("10", "x10")) else plain
    folded = plain.lower().removeprefix("x").rstrip(".,;")
    return _CODES.get(folded, "")


def without_unit(text: str) -> tuple[str, str]:
    """Return the unit with a slash that `text` names, as UCUM has it, and the text without it."""
    for one in _UNIT_WITH_SLASH.finditer(text):
        if code := unit_code(one["unit"]):
            return code, f"{text[: one.start()]} {text[one.end() :]}"
    return "", text


def _unit_at(text: str, at: int) -> tuple[str, int]:
    if (found := _UNIT.match(text, at)) is None:
        return "", at
    if found["power"]:
        return unit_code(found["power"].lower().translate(_SUPERSCRIPTS)), found.end()
    written = found["unit"]
    while written:
        if code := unit_code(written):
            return code, found.start("unit") + len(written)
        cut = max(written.rfind("/"), written.rfind("."), 0)
        written = written[:cut]
    return "", at


def _readings(number: str) -> tuple[tuple[float, ...], int]:
    marks = [mark for mark in number if mark in ".,"]
    if not marks:
        return (float(number),), 0
    whole, _, rest = number.replace(",", ".").rpartition(".")
    as_decimal = float(f"{whole.replace('.', '')}.{rest}")
    joined = float(number.replace(".", "").replace(",", ""))
    if len(marks) > 1:
        return ((joined,), 0) if len(set(marks)) == 1 else ((as_decimal,), len(rest))
    if len(rest) == 3 and marks == [","]:
        return (joined, as_decimal), 0
    if len(rest) == 3 and whole != "0":
        return (as_decimal, joined), 3
    return (as_decimal,), len(rest)
