"""Compares numbers with units by what they are, by UCUM."""

from math import isclose

from services.language.quantities import Quantity, unit_code

_ABOUT = 0.05


# Kind of quantity and size in its base unit, of the units that people write (UCUM codes). A
# registry of all units takes a second to load, in the middle of an answer.
_SIZES: dict[str, tuple[str, float]] = {
    "kg": ("mass", 1e3), "g": ("mass", 1.0), "mg": ("mass", 1e-3), "ug": ("mass", 1e-6),
    "ng": ("mass", 1e-9), "pg": ("mass", 1e-12),
    "L": ("volume", 1.0), "dL": ("volume", 0.1), "mL": ("volume", 1e-3), "fL": ("volume", 1e-15),
    "m": ("length", 1.0), "cm": ("length", 1e-2), "mm": ("length", 1e-3),
    "mol/L": ("molar", 1.0), "mmol/L": ("molar", 1e-3), "umol/L": ("molar", 1e-6),
    "nmol/L": ("molar", 1e-9), "pmol/L": ("molar", 1e-12),
    "g/L": ("density", 1.0), "g/dL": ("density", 10.0), "mg/dL": ("density", 1e-2),
    "mg/L": ("density", 1e-3), "mg/mL": ("density", 1.0), "ug/mL": ("density", 1e-3),
    "ug/dL": ("density", 1e-5), "ug/L": ("density", 1e-6), "ng/mL": ("density", 1e-6),
    "ng/dL": ("density", 1e-8), "ng/L": ("density", 1e-9), "pg/mL": ("density", 1e-9),
    "kU/L": ("activity", 1e3), "U/L": ("activity", 1.0), "U/mL": ("activity", 1e3),
    "m[IU]/L": ("activity", 1e-3),
    "10*9/L": ("cells", 1e9), "10*3/uL": ("cells", 1e9), "10*6/uL": ("cells", 1e12),
    "10*12/L": ("cells", 1e12),
    "mm[Hg]": ("pressure", 133.322387415), "kPa": ("pressure", 1e3),
    "a": ("months", 12.0), "mo": ("months", 1.0),
    "wk": ("time", 168.0), "d": ("time", 24.0), "h": ("time", 1.0), "min": ("time", 1 / 60),
    "s": ("time", 1 / 3600), "%": ("share", 0.01), "1": ("share", 1.0),
}  # fmt: skip


def converted(number: float, unit: str, to: str) -> float | None:
    """Return `number` in another UCUM unit; None where there is no way from one to the other."""
    if unit == to:
        return number
    if (unit, to) == ("Cel", "[degF]"):
        return number * 9 / 5 + 32
    if (unit, to) == ("[degF]", "Cel"):
        return (number - 32) * 5 / 9
    mine, other = _SIZES.get(unit), _SIZES.get(to)
    if mine is None or other is None or mine[0] != other[0]:
        return None
    return number * mine[1] / other[1]


def is_same(claimed: Quantity, known: Quantity, *, is_about: bool = False) -> bool:
    """Whether a claimed number says what is known, rounded at most as it is written."""
    if claimed.comparator != known.comparator and known.comparator:
        return False
    if (claimed.pair is None) != (known.pair is None) and claimed.pair is not None:
        return False
    if claimed.pair is not None and claimed.pair != known.pair:
        return False
    # A point may part thousands, but 8.092 g are not 8.092 kg for that.
    readings = claimed.readings if claimed.unit in ("", known.unit) else claimed.readings[:1]
    return any(
        _fits(claimed, one, there, is_about)
        for one in readings
        for there in _in_unit(known, claimed.unit)
    )


def is_comparable(claimed: Quantity, known: Quantity) -> bool:
    """Whether both measure the same kind of thing, so that they may disagree."""
    if not claimed.unit or not known.unit:
        return claimed.unit == known.unit
    return converted(1.0, known.unit, claimed.unit) is not None


def _in_unit(known: Quantity, unit: str) -> list[float]:
    if not unit or unit == known.unit:
        return list(known.readings)
    if not known.unit:
        # A number without unit in the record is no number with one, but for scores and counts.
        return list(known.readings) if unit in _BARE_UNITS else []
    found = [converted(known.number, known.unit, unit)]
    return [one for one in found if one is not None]


_BARE_UNITS = frozenset({"{score}", "a", "{cycle}", "{tbl}"})


def _fits(claimed: Quantity, number: float, there: float, is_about: bool) -> bool:
    if claimed.comparator and claimed.comparator[0] in "<>":
        if isclose(number, there, rel_tol=1e-9):
            return True
        return there < number if claimed.comparator[0] == "<" else there > number
    if isclose(number, there, rel_tol=1e-6, abs_tol=1e-9):
        return True
    if is_about and isclose(number, there, rel_tol=_ABOUT):
        return True
    significant = len(str(abs(number)).replace(".", "").strip("0"))
    if significant < 2 and abs(number) < 10 and not claimed.decimals:
        return False  # 5 for 4.6 would be another value
    return abs(number - there) <= 0.5 * 10.0**-claimed.decimals * (1 + 1e-9)


def quantity(number: float, unit: str, *, comparator: str = "") -> Quantity:
    """Return a recorded number; a unit that nobody knows stays as it is written."""
    code = unit_code(unit) or unit
    return Quantity(0, 0, (number,), 0, unit=code, comparator=comparator)
