"""Which resources are damaged: elements that carry meaning and are of another JSON kind than R4's.

Absent elements are no damage, nor is one object where R4 wants a list: real servers send both.
"""

from collections.abc import Callable, Mapping
from typing import Any

from services.records.entry import DATES, Raw
from services.records.values import decimal_of

_CONCEPTS = ("code", "vaccineCode", "medicationCodeableConcept", "valueCodeableConcept",
             "clinicalStatus", "verificationStatus", "relationship")  # fmt: skip
_REFERENCES = (
    "subject",
    "patient",
    "beneficiary",
    "medicationReference",
    "individual",
    "encounter",
)
_LISTS = ("component", "content", "presentedForm", "result", "dosageInstruction", "referenceRange",
          "interpretation", "stage", "participant", "activity", "condition", "item", "reaction",
          "note", "contained", "identifier", "modality", "performer", "author")  # fmt: skip


def damaged_element(raw: Raw) -> str | None:
    """Return the first element that carries meaning and is damaged, or None."""
    for name, value in raw.items():
        check = _CHECKS.get(name)
        if check is not None and value is not None and not check(value):
            return f"{name}.value" if check is _is_quantity and isinstance(value, dict) else name
    dates = DATES.get(str(raw.get("resourceType")), ())
    return next((n for n in dates if n in raw and not isinstance(raw[n], str | dict)), None)


def _is_concept(value: Any) -> bool:
    if isinstance(value, list):  # DSTU2 and R5 differ in which of them repeat
        return all(_is_concept(item) for item in value)
    if not isinstance(value, dict):
        return False
    coded = value.get("coding", [])
    coded = coded if isinstance(coded, list) else [coded]
    return isinstance(value.get("text", ""), str) and all(
        isinstance(row, dict)
        and all(isinstance(row.get(name, ""), str) for name in ("system", "code", "display"))
        for row in coded
    )


def _is_reference(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("reference", ""), str)


def _is_quantity(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    amount = value.get("value")
    return amount is None or decimal_of(amount) is not None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_component(value: Any) -> bool:
    return _are_objects(value) and all(
        damaged_element(row) is None for row in (value if isinstance(value, list) else [value])
    )


def _are_objects(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, dict) for item in value)
    return isinstance(value, dict)


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "status": _is_text,
    "valueQuantity": _is_quantity,
    "valueString": _is_text,
    **dict.fromkeys(_CONCEPTS, _is_concept),
    **dict.fromkeys(_REFERENCES, _is_reference),
    **dict.fromkeys(_LISTS, _are_objects),
    "component": _is_component,
}
