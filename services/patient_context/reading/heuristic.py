"""Tells when a message cannot name or change a patient, so that no model need be asked."""

import unicodedata

from services.language.people.patient_phrases import wording
from services.patient_context.reading.reading import Reading

# Scripts in which our English words say nothing; Latin, Greek letters and symbols stay readable.
_READABLE = ("LATIN", "GREEK", "MICRO", "MODIFIER", "FEMININE", "MASCULINE", "FULLWIDTH")


def may_concern_patient(reading: Reading) -> bool:
    """Whether anything in the text may name or change a patient (spec page 1.3)."""
    has_two = len(reading.others) + (reading.active is not None) > 1
    return bool(reading.named) or _has_sign(reading) or (has_two and _may_point_elsewhere(reading))


def concerns_active_only(reading: Reading) -> bool:
    """Whether the text holds no id but the active one, no roster digits, no switch word."""
    if any(one != reading.active for one in reading.named) or _has_sign(reading):
        return False
    return not (reading.others and _may_point_elsewhere(reading))


def _has_sign(reading: Reading) -> bool:
    is_told = reading.doubt is not None or reading.has_roster_digits or "<unfit>" in reading.shape
    return is_told or wording("change_words").search(reading.shape) is not None


def _may_point_elsewhere(reading: Reading) -> bool:
    if wording("relative_words").search(reading.shape):
        return True
    foreign = (one for one in reading.shape if not one.isascii() and one.isalpha())
    return any(not unicodedata.name(one, "").startswith(_READABLE) for one in foreign)
