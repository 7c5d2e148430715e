"""The resource types that Rounds reads (spec page 9.1), and whose they are."""

from collections.abc import Iterator

from services.records.resources.entry import KINDS, Raw, many, one, text
from services.records.resources.standing import certainty_of, is_refuted

CLINICAL = frozenset(KINDS["clinical"])
"""Belong to one patient and are shown as rows."""

SHARED = frozenset(KINDS["shared"])
"""Give names, texts and authors to what is shown."""

MAY_BE_NOBODYS = frozenset({"Device", "Specimen"})
"""R4 lets them name no patient; then they are shown only where the patient's own point to them."""

OWNED = CLINICAL - MAY_BE_NOBODYS
"""Of these one that names no patient is of nobody known."""

BILLS = frozenset(KINDS["bills"])
"""Read for who insures the patient only: the newest of each insurer."""

_IN_ERROR = "entered-in-error"
_CANCELLED_IS_NO_FACT = frozenset({"Observation", "DiagnosticReport"})


def owners_of(kind: str, raw: Raw) -> Iterator[Raw]:
    """Yield the References that may say whose the resource is."""
    for name in ("subject", "patient", "beneficiary"):
        if pointer := one(raw, name):
            yield pointer
            return
    if kind == "Appointment":
        yield from (one(person, "actor") for person in many(raw, "participant"))


def insurers_of(raw: Raw) -> tuple[str, ...]:
    """Return who is named as the payer of a bill."""
    held = [one(row, "coverage") for row in many(raw, "insurance")]
    inner = [payor for row in many(raw, "contained") for payor in many(row, "payor")]
    said = (text(row, "display") for row in (*held, one(raw, "insurer"), *inner))
    return tuple(dict.fromkeys(name for name in said if name))


def is_withdrawn(kind: str, raw: Raw) -> bool:
    """Return whether the resource says of itself that it is not so."""
    said = {text(raw, "status"), text(raw, "docStatus"), certainty_of(raw)}
    return _IN_ERROR in said or never_was(kind, raw)


def never_was(kind: str, raw: Raw) -> bool:
    """Return whether what was thought is not so, or what was to be measured was not."""
    is_cancelled = kind in _CANCELLED_IS_NO_FACT and text(raw, "status") == "cancelled"
    return is_cancelled or is_refuted(raw)


NUMBERS_OF_STATE = frozenset(
    {"social security number", "driver's license", "passport number", "mothers maiden name"}
)
"""Told to who asks for them by name, in no summary and for no other words."""
