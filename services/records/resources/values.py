"""Values of observations as shown: number, unit, range and flag."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any

from services.language.figures.quantities import unit_code
from services.language.figures.unit_sizes import converted, is_sized
from services.records.resources.entry import CODES, Raw, codes, label, many, one, text

_SIGNIFICANT_DIGITS = 4
_FLAGS = CODES["flags"]
_UNREMARKABLE = frozenset({"N", "NEG", "ND", "WR", "S"})


@dataclass(frozen=True, slots=True)
class Value:
    """One value.

    Attributes:
        text: As shown, with comparator, without unit; "" where none was recorded.
        number: As recorded, in `unit`; None where the value is none or only a bound.
        unit: As recorded.
        comparator: Such as `<`, or "".
        ucum: The unit as UCUM codes it; "" where it cannot be read.
    """

    text: str
    number: float | None = None
    unit: str = ""
    comparator: str = ""
    ucum: str = ""

    @property
    def whole(self) -> str:
        """The value with its unit."""
        return with_unit(self.text, self.unit)


ABSENT = Value("")


def with_unit(value: str, unit: str) -> str:
    """Return a value and its unit as they are read."""
    if not unit or not value:
        return value
    return f"{value}%" if unit == "%" else f"{value} {unit}"


def value_in(node: Raw) -> Value:
    """Return the `value[x]` of an Observation, a component or a QuestionnaireResponse's answer."""
    for name, (kind, reader) in _READERS.items():
        if isinstance(held := node.get(name), kind) and (found := reader(held)).text:
            return found
    absent = one(node, "dataAbsentReason")
    return Value(f"no result ({label(absent) or 'reason not given'})") if absent else ABSENT


def quantity(value: Any) -> Value:
    """Return a Quantity as a value; one without a number says nothing."""
    if not isinstance(value, dict):
        return ABSENT
    if (number := decimal_of(value.get("value"))) is None:
        return ABSENT
    comparator = text(value, "comparator")
    unit = text(value, "unit") or text(value, "code")
    return Value(
        f"{comparator}{number_text(number)}",
        None if comparator else float(number),
        _unit_told(unit),
        comparator,
        ucum_of(text(value, "code")) or ucum_of(unit),
    )


def _unit_told(unit: str) -> str:
    """Return a unit as it is told: `{score}` says nothing, `{mutations}/Mb` does."""
    if unit == "1" or (unit.startswith("{") and unit.endswith("}")):
        return ""
    return unit.removeprefix("{").replace("}", "", 1) if unit.startswith("{") else unit


def ucum_of(unit: str) -> str:
    """Return the UCUM code of a unit as recorded; "" where it cannot be read."""
    return unit if is_sized(unit) else unit_code(unit)


def in_unit_of(value: Value, other: Value) -> Value | None:
    """Return a number in another one's unit, by UCUM; None where there is no way, or no need."""
    if value.number is None or not value.ucum or not other.ucum or value.unit == other.unit:
        return None
    if (number := converted(value.number, value.ucum, other.ucum)) is None:
        return None
    shown = number_text(Decimal(f"{number:.6g}"))
    return Value(shown, number, other.unit, "", other.ucum)


def decimal_of(value: Any) -> Decimal | None:
    """Return a JSON number, or a number in a text, as recorded."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= 30 else None


def number_text(number: Decimal) -> str:
    """Return at most four significant digits; whole digits are never rounded away."""
    digits = len(number.as_tuple().digits)
    if digits > _SIGNIFICANT_DIGITS and (exponent := number.as_tuple().exponent) != 0:
        places = max(0, _SIGNIFICANT_DIGITS - 1 - number.adjusted())
        if isinstance(exponent, int) and -exponent > places:
            number = number.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    shown = format(number, "f")
    is_rounded = digits > _SIGNIFICANT_DIGITS and "." in shown
    return shown.rstrip("0").rstrip(".") if is_rounded else shown


def change_text(change: Decimal, *shown: str) -> str:
    """Return a difference, signed, no finer than the values it is of are shown."""
    places = max(sum(map(str.isdigit, value.partition(".")[2])) for value in shown)
    return f"{'+' if change > 0 else ''}{number_text(round(change, places).normalize())}"


def range_of(node: Raw) -> str:
    """Return the reference range as recorded: `3.5-5.1`, `<5`, or its text."""
    said = [_range_text(row) for row in many(node, "referenceRange")]
    return "; ".join(dict.fromkeys(one_range for one_range in said if one_range))


def flag_of(node: Raw, value: Value) -> str:
    """Return `high`, `low`, `critical`, `abnormal` or "": the interpretation, else the range."""
    found = [code for concept in many(node, "interpretation") for code in codes(concept)]
    for code in found:
        if code in _FLAGS:
            return _FLAGS[code]
    if any(code in _UNREMARKABLE for code in found):
        return ""
    # The only range that can be meant; those for other ages and sexes say nothing.
    ranges = many(node, "referenceRange")
    return _outside(ranges[0], value) if len(ranges) == 1 else ""


def interpretation_of(node: Raw) -> str:
    """Return the interpretation in words, where it says more than the flag."""
    words = []
    for concept in many(node, "interpretation"):
        found = codes(concept)
        germ = [word for code, word in CODES["susceptibility"].items() if code in found]
        words += germ or ([] if found & (_FLAGS.keys() | _UNREMARKABLE) else [label(concept)])
    return ", ".join(filter(None, words))


def _outside(row: Raw, value: Value) -> str:
    recorded = decimal_of(value.text.lstrip("<>=~ ")) if value.unit or value.text else None
    if recorded is None:
        return ""
    if value.number is not None:
        recorded = decimal_of(value.number) or recorded
    low, high = quantity(row.get("low")), quantity(row.get("high"))
    if any(edge.unit and value.unit and edge.unit != value.unit for edge in (low, high)):
        return ""
    least, most = decimal_of(low.number), decimal_of(high.number)
    if least is not None and value.comparator in ("", "<", "<=") and recorded < least:
        return "low"
    if most is not None and value.comparator in ("", ">", ">=") and recorded > most:
        return "high"
    return ""


def _range_text(row: Raw) -> str:
    low, high = quantity(row.get("low")).text, quantity(row.get("high")).text
    said = text(row, "text")
    if not low and not high:
        return said
    if low and high:
        return f"{low}-{high}"
    return f">={low}" if low else f"<={high}"


def _whole(value: Any) -> Value:
    number = decimal_of(value)
    return ABSENT if number is None else Value(number_text(number), float(number))


def _span(value: Raw) -> Value:
    low, high = quantity(value.get("low")), quantity(value.get("high"))
    return Value(_range_text(value), None, low.unit or high.unit)


def _ratio(value: Raw) -> Value:
    above, below = quantity(value.get("numerator")), quantity(value.get("denominator"))
    return Value(f"{above.whole}:{below.whole}" if above.text and below.text else "")


def _period(value: Raw) -> Value:
    if not (text(value, "start") or text(value, "end")):
        return ABSENT
    return Value(f"{text(value, 'start') or '?'} to {text(value, 'end') or 'now'}")


def _sampled(value: Raw) -> Value:
    count = len(text(value, "data").split())
    return Value(f"{count} sampled values") if count else ABSENT


_SAID = (str, lambda value: Value(value.strip()))
_CODED = (dict, lambda value: Value(label(value)))
_READERS: Mapping[str, tuple[type, Callable[[Any], Value]]] = {
    "valueQuantity": (dict, quantity),
    "valueCodeableConcept": _CODED,
    "valueCoding": _CODED,
    "valueString": _SAID,
    "valueBoolean": (bool, lambda value: Value("yes" if value else "no")),
    "valueInteger": (object, _whole),
    "valueDecimal": (object, _whole),
    "valueRange": (dict, _span),
    "valueRatio": (dict, _ratio),
    "valueSampledData": (dict, _sampled),
    "valueTime": _SAID,
    "valueDate": _SAID,
    "valueDateTime": _SAID,
    "valuePeriod": (dict, _period),
    "valueUri": _SAID,
    "valueAttachment": (dict, lambda value: Value(text(value, "title") or "attachment")),
    "valueReference": (dict, lambda value: Value(text(value, "display"))),
}
"""What may hold a value, of which JSON kind it is, and how it is read."""
