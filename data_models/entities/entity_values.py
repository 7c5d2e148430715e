"""Which keys entities may have and what values, and when two are the same (E3, E6, E8, E16)."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

# Which keys entities may have, and in which of the two namespaces a key belongs (E9, E10).

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


IsRelative: TypeAlias = Callable[[Any], bool]
VALUE_LIMIT_CHARS = 2_000
_EXACT_FLOAT = 2**53
_encode = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_FLOAT = re.compile(rb"[0-9][.eE]")


class Offer(NamedTuple):
    """A value that somebody wants to store, with its canonical JSON text."""

    value: Any
    canonical: str

    @property
    def is_too_large(self) -> bool:
        """Whether the text itself, or the JSON of anything else, is over the limit (E8)."""
        text = self.value if isinstance(self.value, str) else self.canonical
        return len(text) > VALUE_LIMIT_CHARS


def canonical_json(value: Any) -> str | None:
    """Return the JSON text in which equal values are equal; None if `value` is no JSON.

    Members are sorted and 1.0 is written 1, so neither order nor spelling makes a change.
    """
    if (quick := _quick_json(value)) is not None:
        return quick
    try:
        text = _encode(_plain_numbers(value))
        if not text.isascii():
            text.encode()  # refuses half characters, which no store could write
    except (TypeError, ValueError, RecursionError):
        return None
    return text


def copied(value: Any) -> Any:
    """Return a copy of a JSON value that shares nothing that can change."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def is_blank(value: Any) -> bool:
    """Tell null and text without characters from values; [], {}, 0 and false are values."""
    return value is None or (isinstance(value, str) and not value.strip())


def _quick_json(value: Any) -> str | None:
    """Return what the encoder would say, six times faster; None where only that knows."""
    try:
        text = orjson.dumps(value, option=_SORTED)
    except TypeError:
        return None
    # Floats may be spelled in several ways, and null may stand for what is no number.
    return None if b"null" in text or _FLOAT.search(text) else text.decode()


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOAT:
        return int(value)
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    return [_plain_numbers(item) for item in value] if isinstance(value, list) else value
