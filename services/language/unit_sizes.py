"""Turns a number in one unit into another, by UCUM; never by what a substance weighs."""

# Kind of quantity and size in its base unit, of the units that people write (UCUM codes). A
# registry of all units takes a second to load, in the middle of an answer.
_SIZES: dict[str, tuple[str, float]] = {
    "kg": ("mass", 1e3), "g": ("mass", 1.0), "mg": ("mass", 1e-3), "ug": ("mass", 1e-6),
    "ng": ("mass", 1e-9), "pg": ("mass", 1e-12),
    "[lb_av]": ("mass", 453.59237), "[stone_av]": ("mass", 6350.29318),
    "L": ("volume", 1.0), "dL": ("volume", 0.1), "mL": ("volume", 1e-3), "fL": ("volume", 1e-15),
    "m": ("length", 1.0), "cm": ("length", 1e-2), "mm": ("length", 1e-3),
    "[ft_i]": ("length", 0.3048), "[in_i]": ("length", 0.0254),
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
