"""What a log line may hold. Everything else is withheld (spec page 7, R14).

Allowed by name rather than forbidden by name: a key that nobody thought of stays silent.
"""

import re
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from data_models.identifiers import hashed

WITHHELD = "[withheld]"
_FRAMES = 6
_ITEMS = 20

# Names and codes that the program makes up itself; the value must be one word, too.
_OUR_WORDS = frozenset(
    (
        "added_keys",
        "agent",
        "agent_name",
        "auth_mode",
        "broken_rules",
        "cause",
        "channel",
        "code",
        "commit",
        "decision",
        "error",
        "error_code",
        "event",
        "evicted_keys",
        "kind",
        "level",
        "library",
        "logger",
        "method",
        "mode",
        "model",
        "model_kind",
        "operation",
        "outcome",
        "part",
        "phase",
        "provider",
        "purpose",
        "reason",
        "ref",
        "repaired_rules",
        "replica",
        "route",
        "run",
        "run_id",
        "service",
        "setting",
        "state",
        "status",
        "step",
        "storage",
        "timestamp",
        "tool",
        "updated_keys",
        "version",
        "visible_keys",
        "where",
    )
)
# Names of people, patients and conversations: useful for telling lines apart, never in clear.
_IDS = frozenset(
    (
        "activity_id",
        "chat_id",
        "conversation",
        "conversation_id",
        "message_id",
        "owner",
        "patient",
        "patient_id",
        "principal",
        "principal_id",
        "sender",
        "session_id",
        "tenant",
        "tenant_id",
        "thread_id",
        "user",
        "user_id",
    )
)
_EVENT = re.compile(r"[a-z][a-z0-9_.-]{0,79}")
_HASH = re.compile(r"[0-9a-f]{32}")
# Of an address the server only: paths and queries name patients.
_SERVER = re.compile(r"https?://[A-Za-z0-9.:\[\]-]{1,120}/?")
_WORD = re.compile(r"[A-Za-z0-9_.:/<>+-]{1,80}")


def redacted(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return `line` with numbers, words of ours and hashed ids; an exception becomes its place."""
    kept = dict(line)
    error = _error_of(kept.pop("exc_info", None))
    for key in ("exception", "stack", "stack_info"):
        kept.pop(key, None)
    kept = {key: _allowed(key, value) for key, value in kept.items()}
    if _EVENT.fullmatch(str(kept.get("event"))) is None:
        kept["event"] = WITHHELD
    return kept | place_of(error)


def place_of(error: BaseException | None) -> dict[str, Any]:
    """Return type, cause and place of `error`, without its text, which may quote a patient."""
    if error is None:
        return {}
    found: dict[str, Any] = {"error": type(error).__name__, "where": _frames(error.__traceback__)}
    cause = error.__cause__ or error.__context__
    return found if cause is None else found | {"cause": type(cause).__name__}


def _frames(trace: TracebackType | None) -> list[str]:
    frames = [f"{frame.f_code.co_name}:{number}" for frame, number in traceback.walk_tb(trace)]
    return frames[-_FRAMES:]


def _allowed(key: str, value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if key in _IDS:
        text = str(value)
        return text if _HASH.fullmatch(text) else hashed(text)
    if key == "url":
        return value if isinstance(value, str) and _SERVER.fullmatch(value) else WITHHELD
    if key == "operation_details" and isinstance(value, dict):
        return {name: _allowed(name, item) for name, item in value.items()}
    if key not in _OUR_WORDS:
        return WITHHELD
    if isinstance(value, list | tuple):
        return [_allowed(key, item) for item in value[:_ITEMS]]
    return value if isinstance(value, str) and _WORD.fullmatch(value) else WITHHELD


def _error_of(exc_info: object) -> BaseException | None:
    if isinstance(exc_info, BaseException):
        return exc_info
    if isinstance(exc_info, tuple) and len(exc_info) > 1:
        return exc_info[1] if isinstance(exc_info[1], BaseException) else None
    return None
