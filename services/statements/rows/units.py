"""Compares numbers with units by what they are, by UCUM."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from math import isclose

from services.language.figures.quantities import Quantity, unit_code
from services.language.figures.unit_sizes import converted
from services.language.words.vocabulary import read_table

_SCALES = frozenset({5.0, 10.0, 15.0, 30.0, 100.0})
"""What scores may reach: of pain, of coma, of memory."""
_ABOUT = 0.05
_GROUP = 3  # what a comma parts of "3,077" is a group of thousands, or three decimals
_HALF = 0.501  # numbers are rounded to whole ones at most


def is_same(claimed: Quantity, known: Quantity, *, is_about: bool = False) -> bool:
    """Whether a claimed number says what is known, rounded at most as it is written."""
    if claimed.comparator != known.comparator and known.comparator:
        return False
    # Of "3/10" the latter is the end of its scale.
    is_scale = not claimed.unit and claimed.pair in _SCALES and claimed.number <= claimed.pair
    if claimed.pair is not None and known.pair is None and not is_scale:
        return False
    if claimed.comparator in ("<", ">") and not known.comparator and claimed.number == known.number:
        return False
    pairs = (claimed.pair, known.pair)
    decimals = (claimed.decimals, _GROUP - claimed.decimals)
    if None not in pairs and not _fits(
        claimed, claimed.pair or 0, known.pair or 0, decimals[0], is_about
    ):
        return False
    if known.comparator and claimed.unit != known.unit:  # "below 1 µg" is not told as "below 1 mg"
        claimed = replace(claimed, comparator="")
    # A point may part thousands, but 8.092 g are not 8.092 kg for that.
    is_plain = claimed.unit in ("", known.unit)
    readings = claimed.readings if is_plain else claimed.readings[:1]
    # "Above 7" is no 6.383 that might be 6,383.
    recorded = known.readings if is_plain else _in_unit(known, claimed.unit)
    recorded = recorded[:1] if claimed.comparator else recorded
    return any(
        _fits(claimed, one, there, places, is_about)
        for one, places in zip(readings, decimals, strict=False)
        for there in recorded
    )


def is_comparable(claimed: Quantity, known: Quantity) -> bool:
    """Whether both measure the same kind of thing, so that they may disagree."""
    if not claimed.unit or not known.unit:
        return claimed.unit == known.unit
    return converted(1.0, known.unit, claimed.unit) is not None


def _in_unit(known: Quantity, unit: str) -> tuple[float, ...]:
    if not known.unit:
        # A number without unit in the record is no number with one, but for scores and counts.
        return known.readings if unit in _BARE_UNITS or known.comparator else ()  # "A1c < 7.0"
    found = converted(known.number, known.unit, unit)
    return () if found is None else (found,)


def in_moles(known: Quantity, names: AbstractSet[str]) -> list[Quantity]:
    """Return a value of a substance, by what that weighs, in moles; one in moles as a mass."""
    found = []
    for mass, moles, size, offset in (_MOLES[name] for name in names & _MOLES.keys()):
        if known.unit == mass:
            found.append(replace(known, readings=(known.number * size + offset,), unit=moles))
        elif known.unit == moles:
            found.append(replace(known, readings=((known.number - offset) / size,), unit=mass))
    return found


_MOLES: dict[str, tuple[str, str, float, float]] = read_table("units")["moles"]
_BARE_UNITS = frozenset({"{score}", "a", "{cycle}", "{tbl}", "Cel", "mm[Hg]"})


def _fits(claimed: Quantity, number: float, there: float, decimals: int, is_about: bool) -> bool:
    if claimed.comparator and claimed.comparator[0] in "<>":
        if isclose(number, there, rel_tol=1e-9):
            return True
        return there < number if claimed.comparator[0] == "<" else there > number
    off = abs(number - there)
    if off > _HALF and off > _ABOUT * abs(number) and off > _ABOUT * abs(there):
        return False  # farther than any rounding: most rows end here
    if isclose(number, there, rel_tol=1e-6, abs_tol=1e-9):
        return True
    if is_about and isclose(number, there, rel_tol=_ABOUT):
        return True
    significant = len(str(abs(number)).replace(".", "").strip("0"))
    if significant < 2 and abs(number) < 10 and not decimals:
        return False  # 5 for 4.6 would be another value
    return off <= 0.5 * 10.0**-decimals * (1 + 1e-9)


def quantity(number: float, unit: str, *, comparator: str = "") -> Quantity:
    """Return a recorded number; a unit that nobody knows stays as it is written."""
    code = unit_code(unit) or unit
    return Quantity(0, 0, (number,), 0, unit=code, comparator=comparator)
