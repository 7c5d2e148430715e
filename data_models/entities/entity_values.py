"""What a value of an entity may be, and when two of them are the same (E3, E6, E8, E16)."""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import orjson

IsRelative: TypeAlias = Callable[[Any], bool]
VALUE_LIMIT_CHARS = 2_000
_EXACT_FLOAT = 2**53
_encode = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_FLOAT = re.compile(rb"[0-9][.eE]")
_PLAIN = re.compile(r"[ !#-\[\]-~]*")


class Offer(NamedTuple):
    """A value that somebody wants to store, with its canonical JSON text."""

    value: Any
    canonical: str

    @property
    def length_chars(self) -> int:
        """Length against the limit: of the text itself, or of the JSON of anything else."""
        return len(self.value) if isinstance(self.value, str) else len(self.canonical)


def canonical_json(value: Any) -> str | None:
    """Return the JSON text in which equal values are equal; None if `value` is no JSON.

    Members are sorted and 1.0 is written 1, so neither order nor spelling makes a change.
    """
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return f'"{value}"'  # the encoder would say the same, ten times slower
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
