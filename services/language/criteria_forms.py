"""Forms of what criteria compare: ages, values, stages, markers. Pure; English as registers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

AskedKind: TypeAlias = Literal["age", "sex", "ecog", "karnofsky", "stage", "value", "marker"]
Bound: TypeAlias = tuple[float, bool]
_OPS = {
    **dict.fromkeys(("≥", ">=", "=>", "at least", "of at least", "greater than or equal to",
                     "not less than", "no less than", "minimum of", "minimum"), ">="),
    **dict.fromkeys((">", "greater than", "more than", "above", "over", "older than",
                     "higher than", "exceeding"), ">"),
    **dict.fromkeys(("≤", "<=", "=<", "at most", "less than or equal to", "not more than",
                     "no more than", "no greater than", "not greater than", "no older than",
                     "up to", "maximum of"), "<="),
    **dict.fromkeys(("<", "less than", "below", "under", "younger than", "lower than"), "<"),
}  # fmt: skip
_OP = "|".join(re.escape(one) for one in sorted(_OPS, key=len, reverse=True))
_VALUES = {
    "hemoglobin": "ha?emoglobin|hgb|hb",
    "platelets": "platelets?(?: count)?|thrombocytes?|plt",
    "neutrophils": r"absolute neutrophil count(?: \(anc\))?|anc|neutrophils?(?: count)?",
    "leukocytes": "white blood cells?(?: count)?|wbc|leu[ck]ocytes?",
    "creatinine clearance": "(?:calculated |estimated )?creatinine clearance|crcl",
    "eGFR": r"egfr|estimated glomerular filtration rate|gfr(?!-)",
    "creatinine": "creatinine",
    "bilirubin": "(?:total )?bilirubin",
    "ALT": "alt|alanine aminotransferase|sgpt",
    "AST": "ast|aspartate aminotransferase|sgot",
    "alkaline phosphatase": "alkaline phosphatase|alp",
    "albumin": "albumin",
    "INR": "inr",
    "potassium": "potassium",
    "LDH": "ldh|lactate dehydrogenase",
    "PSA": "psa|prostate[- ]specific antigen",
    "CEA": "cea|carcinoembryonic antigen",
    "left ventricular ejection fraction": "lvef|(?:left ventricular )?ejection fraction",
    "hemoglobin A1c": "hba1c|ha?emoglobin a1c|a1c",
    "body mass index": "bmi|body mass index",
    "testosterone": "testosterone",
}
_NAME = "|".join(f"(?:{one})" for one in _VALUES.values())
_LINK = (
    r"(?:\s|\(|\)|:|=|levels?|counts?|values?|of|is|are|must be|should be|has to be|a|the|both)*"
)
_FIGURE = r"\d+(?:[.,]\d+)*"
_UNIT = (
    r"(?:\s?(?:x|×|\*)\s?10(?:\^|\*)?9\s?/\s?l|\s?(?:x|×)\s?10⁹\s?/\s?l|\s?%"
    r"|\s?/\s?(?:[µμu]l|mcl|mm3|mm\^3|mm³)|\s?cells/(?:[µμu]l|mm3|mm\^3|mm³)"
    r"|\s?(?:[µμm]?mol|[µμnmk]?g|m?i?u|ml|kg)/(?:dl|l|ml|min(?:/1\.73 ?m(?:2|²|\^2))?|m2|m²))?"
)
_ULN = r"(?:\s?(?:x|×|times)\s?(?:the )?(?:institutional )?(?:uln|upper limit of normal))?"
_VALUE = re.compile(
    rf"\b(?P<name>{_NAME})(?:\s*(?P<joint>and|or|and/or|/)\s*(?P<also>{_NAME}))?{_LINK}"
    rf"(?P<op>{_OP}){_LINK}(?P<num>{_FIGURE})(?P<unit>{_UNIT})(?P<uln>{_ULN})(?![\w.])",
    re.IGNORECASE,
)
_VALUE_MORE = re.compile(
    rf"\b(?P<name>{_NAME}){_LINK}(?P<num>{_FIGURE})(?P<unit>{_UNIT})\s+or\s+"
    r"(?P<side>higher|greater|more|above|lower|less|below)\b",
    re.IGNORECASE,
)
_YEARS = r"(?:\s*-?\s*(?:years?|yrs?)(?:\s*-?\s*(?:of age|old))?)"
_AGES = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b(?:aged?|ages|between)\s*:?\s*(?:of |is |from |between )*(?P<a>\d{{1,3}})"
        rf"{_YEARS}?\s*(?:to|-|–|and)\s*(?P<b>\d{{1,3}}){_YEARS}?(?:\s*\(?inclusive\)?)?",
        r"\b(?P<a>\d{1,3})\s*(?:to|-|–)\s*(?P<b>\d{1,3})\s*(?:years of age|years old|years)",
        rf"\b(?P<a>\d{{1,3}}){_YEARS}\s*(?:or|and)\s*(?P<side>older|above|over|more|younger|less)",
        rf"\bage[ds]?\b{_LINK}(?P<op>{_OP})\s*(?P<a>\d{{1,3}})(?:{_YEARS}|\b)",
        rf"(?P<op>{_OP})\s*(?P<a>\d{{1,3}})\s*years?\s*(?:of age|old)",
        rf"\badults?\s*(?P<op>{_OP})\s*(?P<a>\d{{1,3}})(?:{_YEARS}|\b)",
    )
)
_ECOG = re.compile(
    r"\b(?:eastern cooperative oncology group|ecog|who|zubrod)(?:\s*\(?ecog\)?)?"
    r"(?:[\s/]*(?:performance|status|scores?|ps|grade|\(ps\)))*" + _LINK
    + rf"(?P<op>{_OP})?\s*(?P<a>[0-5])(?:(?P<to>\s*(?:-|–|to|or|,|and|through)\s*)"
    r"(?P<b>[0-5])(?:\s*(?:or|,|and|, or)\s*(?P<c>[0-5]))?)?(?P<side>\s+or (?:less|better|worse|"
    r"greater|more|higher|lower))?(?![\w.])",
    re.IGNORECASE,
)  # fmt: skip
_KARNOFSKY = re.compile(
    rf"\b(?:karnofsky|kps)(?:\s*(?:performance|status|scores?|ps))*{_LINK}(?P<op>{_OP})\s*"
    r"(?P<a>\d{2,3})(?:\s?%)?",
    re.IGNORECASE,
)
_STAGE_WORD = r"(?:IV|III|II|I)(?:[ABC]\d?)?"
_STAGE = re.compile(
    rf"\b(?:(?:AJCC|UICC|clinical|pathologic(?:al)?)\s+)*stages?\s+(?P<a>{_STAGE_WORD})"
    rf"(?:(?P<to>\s*(?:-|–|to|or|and|/|through)\s*)(?:stage\s+)?(?P<b>{_STAGE_WORD}))?"
    r"(?:\s+disease)?\b",
    re.IGNORECASE,
)
_METASTATIC = re.compile(r"\bmetastatic(?:\s+disease)?\b", re.IGNORECASE)
_SEX = re.compile(
    r"\b(?:(?P<female>women|woman|females?)|(?P<male>men|man|males?))\b", re.IGNORECASE
)
_GENES = "EGFR|ALK|ROS1|KRAS|NRAS|BRAF|HER2|MET|RET|NTRK|BRCA1/2|BRCA1|BRCA2|BRCA|PIK3CA|MSH2|RAS"
GENES = frozenset(_GENES.split("|"))
_MARKER = re.compile(
    rf"\b(?P<gene>{_GENES})(?:[\s-]+(?P<variant>exon \d+ (?:skipping|deletions?|insertions?)"
    r"|[A-Z]\d{2,4}[A-Z]?))?[\s-]*(?P<state>(?:activating |sensiti[sz]ing |pathogenic |germline |"
    r"somatic )*(?:mutations?|mutated|mutant|mutation-positive|positive|negative|wild[- ]?type|"
    r"amplifications?|amplified|rearrangements?|rearranged|fusions?|alterations?|variants?)"
    r"(?:[- ]positive)?)?(?![\w/])"
)
_MSI = re.compile(
    r"\b(?P<high>MSI-H(?:igh)?|microsatellite instability[- ]high|dMMR|"
    r"(?:mismatch repair|MMR)[- ]deficien(?:t|cy)|deficient mismatch repair)\b"
    r"|\b(?P<low>MSS|microsatellite stable|pMMR|(?:mismatch repair|MMR)[- ]proficient)\b",
    re.IGNORECASE,
)
_PDL1 = re.compile(
    rf"\bPD-?L1(?:\s+(?:TPS|tumou?r proportion score|expression|\(TPS\)))*{_LINK}"
    rf"(?P<op>{_OP})\s*(?P<num>{_FIGURE})\s?%",
    re.IGNORECASE,
)


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


def _metastatic(_: re.Match[str]) -> list[Asked]:
    return [Asked("stage", values=("IV",))]


def _sex(match: re.Match[str]) -> list[Asked]:
    return [Asked("sex", values=("female" if match["female"] else "male",))]


def _marker(match: re.Match[str]) -> list[Asked]:
    if not match["variant"] and not match["state"]:
        return []
    state = (match["state"] or "").lower()
    sense = "absent" if "negative" in state or "wild" in state else "present"
    what = next(
        (
            one
            for one in (
                "amplif",
                "rearrang",
                "fusion",
                "germline",
                "somatic",
                "activating",
                "sensiti",
                "pathogenic",
            )
            if one in state
        ),
        "",
    )
    return [Asked("marker", match["gene"], values=(sense, match["variant"] or "", what))]


def _msi(match: re.Match[str]) -> list[Asked]:
    return [Asked("marker", "MSI", values=("present" if match["high"] else "absent", "", ""))]


def _pdl1(match: re.Match[str]) -> list[Asked]:
    bounds = _bounds(match["op"], _figure(match["num"]))
    return [Asked("marker", "PD-L1", within=bounds, unit="%")]


FORMS: tuple[tuple[re.Pattern[str], Make], ...] = (
    *((form, _age) for form in _AGES),
    (_ECOG, _ecog),
    (_KARNOFSKY, _karnofsky),
    (_PDL1, _pdl1),
    (_VALUE, _value),
    (_VALUE_MORE, _value_more),
    (_STAGE, _stage),
    (_MSI, _msi),
    (_MARKER, _marker),
    (_METASTATIC, _metastatic),
    (_SEX, _sex),
)
