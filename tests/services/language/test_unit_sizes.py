import pytest
from ucumvert import PintUcumRegistry  # type: ignore[import-untyped]

from services.language.figures.unit_sizes import _DEGREES, _SIZES, converted

_CONTEXTLESS = {"m[IU]/L"}
"""An international unit is another thing for each substance: UCUM gives it no size."""


@pytest.mark.slow
def test_every_size_of_the_table_is_that_of_ucum() -> None:
    registry = PintUcumRegistry()
    known = [unit for unit in _SIZES if unit not in _CONTEXTLESS]
    wrong = []
    for unit in known:
        for other in known:
            mine = converted(1.0, unit, other)
            if mine is None or _SIZES[unit][0] == "activity":
                continue
            theirs = (
                registry.from_ucum(unit).to_base_units() / registry.from_ucum(other).to_base_units()
            )
            if mine != pytest.approx(float(theirs.to_base_units().magnitude), rel=1e-3):
                wrong.append((unit, other, mine, theirs))
    assert wrong == []


def test_degrees_are_converted_with_their_zero() -> None:
    assert converted(98.6, "[degF]", "Cel") == pytest.approx(37.0)
    assert converted(37.0, "Cel", "[degF]") == pytest.approx(98.6)
    assert {"Cel", "[degF]"} == _DEGREES


def test_there_is_no_way_from_mass_to_amount() -> None:
    assert converted(100.0, "mg/dL", "mmol/L") is None
    assert converted(1.0, "kg", "g/L") is None
