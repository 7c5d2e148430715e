"""Turns a number in one unit into another, by UCUM; never by what a substance weighs."""

from services.language.words.vocabulary import read_table

# Kind of quantity and size in its base unit, of the units that people write (UCUM codes). A
# registry of all units takes a second to load, in the middle of an answer.
_SIZES: dict[str, tuple[str, float]] = {
    unit: (kind, size)
    for kind, sizes in read_table("units")["sizes"].items()
    for unit, size in sizes.items()
}
_DEGREES = frozenset({"Cel", "[degF]"})


def is_sized(unit: str) -> bool:
    """Return whether a UCUM code can be turned into another."""
    return unit in _SIZES or unit in _DEGREES


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
