"""Tells when a message cannot name or change a patient, so that no model need be asked."""

import unicodedata

from services.language.patient_phrases import wording
from services.patient_context.reading import Reading

# Scripts in which our English words say nothing; Latin, Greek letters and symbols stay readable.
_READABLE = ("LATIN", "GREEK", "MICRO", "MODIFIER", "FEMININE", "MASCULINE", "FULLWIDTH")


def may_concern_patient(reading: Reading) -> bool:
    """Whether anything in the text may name or change a patient (spec page 1.3)."""
    if reading.named or reading.doubt is not None or reading.has_roster_digits:
        return True
    if wording("change_words").search(reading.shape) or "<unfit>" in reading.shape:
        return True
    if reading.active is None and not reading.others:
        return False
    has_two = len(reading.others) + (reading.active is not None) > 1
    return has_two and _may_point_elsewhere(reading)


def concerns_active_only(reading: Reading) -> bool:
    """Whether the text holds no id but the active one, no roster digits, no switch word."""
    if any(one != reading.active for one in reading.named) or reading.doubt is not None:
        return False
    if wording("change_words").search(reading.shape) or "<unfit>" in reading.shape:
        return False
    if reading.has_roster_digits:
        return False
    return not (reading.others and _may_point_elsewhere(reading))


def _may_point_elsewhere(reading: Reading) -> bool:
    if wording("relative_words").search(reading.shape):
        return True
    foreign = (one for one in reading.shape if not one.isascii() and one.isalpha())
    return any(not unicodedata.name(one, "").startswith(_READABLE) for one in foreign)
