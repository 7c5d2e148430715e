"""Which keys entities may have, and in which of the two namespaces a key belongs (E9, E10)."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Literal, TypeAlias

Namespace: TypeAlias = Literal["conversation", "derived"]

BOOKING_KEYS = frozenset(
    {
        "doctor_preference",
        "time_preference",
        "date_preference",
        "procedure_preference",
        "reason_visit",
    }
)
"""What an appointment is booked by; while it is wanted it gives way to no other wish."""
CONVERSATION_KEYS = BOOKING_KEYS | {"user_name", "urgency_preference"}
DERIVED_KEYS = frozenset(
    {
        "doctor_uuid",
        "available_slots",
        "patient_id_retrieved",
        "eligibility_checked",
        "appointment_id",
        "insurance_verified",
    }
)
ALIASES: Mapping[str, str] = {
    "doctor_name": "doctor_preference",
    "preferred_date": "date_preference",
    "preferred_doctor": "doctor_preference",
    "preferred_procedure": "procedure_preference",
    "preferred_time": "time_preference",
}
_HOMES: Mapping[str, Namespace] = {
    **dict.fromkeys(CONVERSATION_KEYS, "conversation"),
    **dict.fromkeys(DERIVED_KEYS, "derived"),
}
_CONVERSATION_SUFFIX = "_preference"
_DERIVED_SUFFIXES = ("_uuid", "_id", "_retrieved")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP = re.compile(r"[\s-]+")


def plain_key(raw: str) -> str | None:
    """Return `raw` trimmed, in NFC and snake_case; None if that is no key."""
    text = unicodedata.normalize("NFC", raw).strip()
    text = _GAP.sub("_", _HUMP.sub("_", text)).lower()
    return text if _KEY.fullmatch(text) else None


def canonical_key(raw: str) -> str | None:
    """Return the one key that `raw` means, aliases resolved; None if it is no key."""
    key = raw if _KEY.fullmatch(raw) else plain_key(raw)
    return None if key is None else ALIASES.get(key, key)


def namespace_of(key: str) -> Namespace | None:
    """Return where a canonical key belongs; None for one that stays where it was sent."""
    if (home := _HOMES.get(key)) is not None:
        return home
    if key.endswith(_CONVERSATION_SUFFIX):
        return "conversation"
    return "derived" if key.endswith(_DERIVED_SUFFIXES) else None
