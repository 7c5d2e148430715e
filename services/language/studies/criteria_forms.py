"""Forms of what criteria compare: ages, values, stages, markers. Pure; English as registers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from services.language.words.expressions import expressions

AskedKind: TypeAlias = Literal["age", "sex", "ecog", "karnofsky", "stage", "value", "marker"]
Bound: TypeAlias = tuple[float, bool]
READ_FORMS = expressions("en/criteria")
_SIGNS = {"at_least": ">=", "above": ">", "at_most": "<=", "below": "<"}
_OPS = {said: sign for name, sign in _SIGNS.items() for said in READ_FORMS.words(name)}
_VALUES = READ_FORMS.named("values")
_AGES = [re.compile(form) for form in READ_FORMS.named("ages").values()]
_METASTATIC = re.compile(r"\bmetastatic(?:\s+disease)?\b", re.IGNORECASE)
GENES = frozenset(READ_FORMS.words("genes"))
_PDL1 = READ_FORMS.compiled("pdl1")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds, each with whether it counts itself; None where open."""

    low: Bound | None = None
    high: Bound | None = None

    def holds(self, number: float, *, times: float = 1.0) -> bool:
        """Whether a number is within the bounds, multiplied by `times`."""
        low, high = self.low, self.high
        is_low = low is None or number > low[0] * times or (low[1] and number == low[0] * times)
        is_high = (
            high is None or number < high[0] * times or (high[1] and number == high[0] * times)
        )
        return is_low and is_high


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing that is compared by code.

    Attributes:
        name: Of a value or marker.
        within: What a number has to be.
        unit: As written; of a value.
        times_upper: The bound is so many times the upper limit of normal.
        values: Sexes, stages, or the state and variant of a marker.
    """

    kind: AskedKind
    name: str = ""
    within: Bounds = Bounds()
    unit: str = ""
    is_times_upper: bool = False
    values: tuple[str, ...] = ()


Make: TypeAlias = Callable[[re.Match[str]], list[Asked]]
"""Reads a match; nothing where it cannot be read for sure."""


def _bounds(op: str, number: float) -> "Bounds":
    sign = _OPS[" ".join(op.lower().split())]
    return _one_bound((number, sign.endswith("=")), is_low=sign.startswith(">"))


def _one_bound(bound: Bound, *, is_low: bool) -> Bounds:
    return Bounds(bound, None) if is_low else Bounds(None, bound)


def _value(match: re.Match[str]) -> list[Asked]:
    unit, is_uln = match["unit"].strip(), bool(match["uln"].strip())
    bounds = _bounds(match["op"], _figure(match["num"]))
    names = [match["name"], *([match["also"]] if match["also"] else [])]
    if match["also"] and match["joint"].lower() in ("or", "and/or"):
        return []  # whether one is enough has to be read
    return [
        Asked("value", _value_name(name), within=bounds, unit=unit, is_times_upper=is_uln)
        for name in names
    ]


def _value_more(match: re.Match[str]) -> list[Asked]:
    unit = match["unit"].strip()
    is_low = match["side"].lower() in ("higher", "greater", "more", "above")
    bounds = _one_bound((_figure(match["num"]), True), is_low=is_low)
    return [Asked("value", _value_name(match["name"]), within=bounds, unit=unit)]


def _figure(said: str) -> float:
    """Read 100,000/µL as a hundred thousand."""
    parts = said.split(",")
    is_thousands = len(parts) > 1 and all(len(part) == 3 for part in parts[1:])
    return float(said.replace(",", "" if is_thousands else "."))


def _value_name(said: str) -> str:
    folded = said.lower()
    return next(name for name, form in _VALUES.items() if re.fullmatch(form, folded))


def _age(match: re.Match[str]) -> list[Asked]:
    groups = match.groupdict()
    first = float(match["a"])
    if groups.get("b"):
        return [Asked("age", within=Bounds((first, True), (float(match["b"]), True)))]
    if groups.get("op"):
        return [Asked("age", within=_bounds(match["op"], first))]
    is_low = match["side"].lower() not in ("younger", "less")
    return [Asked("age", within=_one_bound((first, True), is_low=is_low))]


def _ecog(match: re.Match[str]) -> list[Asked]:
    first = float(match["a"])
    figures = [float(match[name]) for name in "abc" if match[name]]
    side = (match["side"] or "").lower()
    if match["op"]:
        bounds = _bounds(match["op"], first)
        return [] if len(figures) > 1 or side else [Asked("ecog", within=bounds)]
    if side and len(figures) == 1:
        is_high = any(word in side for word in ("less", "better", "lower"))
        return [Asked("ecog", within=_one_bound((first, True), is_low=not is_high))]
    if side or figures != sorted(figures):
        return []
    is_span = (match["to"] or "").strip() in ("-", "–", "to", "through")
    if not is_span and any(b - a != 1 for a, b in pairwise(figures)):
        return []
    return [Asked("ecog", within=Bounds((figures[0], True), (figures[-1], True)))]


def _karnofsky(match: re.Match[str]) -> list[Asked]:
    return [Asked("karnofsky", within=_bounds(match["op"], float(match["a"])))]


STAGES = ("I", "II", "III", "IV")


def _stage(match: re.Match[str]) -> list[Asked]:
    first, last = match["a"].upper(), (match["b"] or "").upper()
    is_span = (match["to"] or "").strip() in ("-", "–", "to", "through")
    if not last:
        return [Asked("stage", values=(first,))]
    if not is_span or first.rstrip("ABC0123456789") == last.rstrip("ABC0123456789"):
        return [Asked("stage", values=(first, last))]
    low = STAGES.index(first.rstrip("ABC123"))
    between = STAGES[low + 1 : STAGES.index(last.rstrip("ABC123"))]
    # From IIIB on: IIIB itself and IIIC, then all of the next.
    letters = "ABC"
    own = [first] if first in STAGES else [
        f"{STAGES[low]}{letter}" for letter in letters if letter >= first[len(STAGES[low])]
    ]  # fmt: skip
    return [Asked("stage", values=(*own, *between, last))]


def _sex(match: re.Match[str]) -> list[Asked]:
    return [Asked("sex", values=("female" if match["female"] else "male",))]


def _marker(match: re.Match[str]) -> list[Asked]:
    if not match["variant"] and not match["state"]:
        return []
    state = (match["state"] or "").lower()
    sense = "absent" if "negative" in state or "wild" in state else "present"
    changes = (
        "amplif", "rearrang", "fusion", "germline", "somatic", "activating", "sensiti",
        "pathogenic",
    )  # fmt: skip
    what = next((one for one in changes if one in state), "")
    return [Asked("marker", match["gene"], values=(sense, match["variant"] or "", what))]


def _pdl1(match: re.Match[str]) -> list[Asked]:
    bounds = _bounds(match["op"], _figure(match["num"]))
    return [Asked("marker", "PD-L1", within=bounds, unit="%")]


FORMS: tuple[tuple[re.Pattern[str], Make], ...] = (
    *((form, _age) for form in _AGES),
    (READ_FORMS.compiled("ecog"), _ecog),
    (READ_FORMS.compiled("karnofsky"), _karnofsky),
    (_PDL1, _pdl1),
    (READ_FORMS.compiled("value"), _value),
    (READ_FORMS.compiled("value_more"), _value_more),
    (READ_FORMS.compiled("stage"), _stage),
    (
        READ_FORMS.compiled("msi"),
        lambda one: [
            Asked("marker", "MSI", values=("present" if one["high"] else "absent", "", ""))
        ],
    ),
    (READ_FORMS.compiled("marker"), _marker),
    (_METASTATIC, lambda _: [Asked("stage", values=("IV",))]),
    (READ_FORMS.compiled("sex"), _sex),
)
