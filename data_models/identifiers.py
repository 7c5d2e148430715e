"""Identifiers: the types that mean "already checked", and safe storage names.

Patient ids are checked against the operator's pattern (`services/patient_context`);
conversation ids come from channels and may be any text, so they are encoded.
"""

import hashlib
import re
from functools import lru_cache
from typing import NewType
from urllib.parse import quote

from data_models.errors import BadFrameError, InvalidIdentifierError

PatientId = NewType("PatientId", str)

PATIENT_ID_LIMIT_CHARS = 64
CONVERSATION_ID_LIMIT_CHARS = 4_000
FOLDER_LIMIT_CHARS = 200
_PREFIX_CHARS = 100
_STORABLE_PATIENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_DEVICE_NAME = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)")


@lru_cache(maxsize=1_000)
def storage_folder(conversation_id: str) -> str:
    """Return the one folder name of `conversation_id`: percent-encoded, no separator, no dots only.

    Ids over 200 encoded characters become a readable prefix, `~` and their SHA-256; `~` is
    otherwise always encoded, so no short id can spell another's folder. Spec page 1.1.

    Raises:
        InvalidIdentifierError: the id is empty, over 4,000 characters or holds a lone surrogate.
    """
    if not 0 < len(conversation_id) <= CONVERSATION_ID_LIMIT_CHARS:
        raise InvalidIdentifierError(kind="conversation id", expected="1 to 4,000 characters")
    try:
        encoded = quote(conversation_id, safe="").replace("~", "%7E")
    except UnicodeEncodeError:
        raise InvalidIdentifierError(kind="conversation id", expected="valid Unicode") from None
    if encoded.strip(".") == "" or encoded.startswith(".") or encoded.endswith("."):
        encoded = encoded.replace(".", "%2E")
    if _DEVICE_NAME.match(encoded):
        encoded = f"%{ord(encoded[0]):02X}{encoded[1:]}"
    if len(encoded) <= FOLDER_LIMIT_CHARS:
        return encoded
    digest = hashlib.sha256(conversation_id.encode()).hexdigest()
    prefix = re.sub(r"%[0-9A-F]?$", "", encoded[:_PREFIX_CHARS])
    return f"{prefix}~{digest}"


def is_web_name(conversation_id: str) -> bool:
    """Whether a web client may claim a conversation of this name before it exists.

    Channels write a colon into their ids (`19:…@thread.tacv2`, `a:1…`) and keep that for
    themselves: who guessed one could otherwise have it before the channel's first message.
    """
    return ":" not in conversation_id


def storable_patient_id(raw: str) -> PatientId:
    """Return `raw` as a patient id that is safe inside a blob name (spec page 7, R4).

    Raises:
        InvalidIdentifierError: not 1 to 64 ASCII letters, digits, `_`, `.` or `-`, or holds `..`.
    """
    if len(raw) > PATIENT_ID_LIMIT_CHARS or ".." in raw or not _STORABLE_PATIENT_ID.fullmatch(raw):
        raise InvalidIdentifierError(kind="patient id", expected="1 to 64 safe ASCII characters")
    return PatientId(raw)


def hashed(*parts: str) -> str:
    """Return a one-way name for `parts`, for logs, indexes and message ids (32 hex digits)."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode(errors="surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def number_in(raw: str) -> int:
    """Return a number of a path or query.

    Raises:
        BadFrameError: it is none of at most nine digits.
    """
    if not (raw.isascii() and raw.isdecimal() and len(raw) <= 9):
        raise BadFrameError("a number has one to nine digits")
    return int(raw)
