"""Sets logging up, for us and for the libraries."""

import logging
import re
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from types import TracebackType
from typing import Any, Literal, TextIO, TypeAlias

import orjson
import structlog

from data_models.identifiers import hashed

# What a log line may hold; everything else is withheld (spec page 7, R14). Allowed by name rather
# than forbidden by name: a key that nobody thought of stays silent.

WITHHELD = "[withheld]"
_FRAMES = 6
_ITEMS = 20

# Names and codes that the program makes up itself; the value must be one word, too.
_OUR_WORD_TEXT = """
    action added_keys agent agent_name auth_mode broken_rules cause channel claim code commit
    decision error error_code event evicted_keys kind level library logger method mode model
    model_kind operation outcome part phase policy provider purpose reason ref repaired_rules
    replica route run run_id service setting state status step storage timestamp tool turn_id
    updated_keys version visible_keys where
"""
_OUR_WORDS = frozenset(_OUR_WORD_TEXT.split())
# Names of people, patients and conversations: useful for telling lines apart, never in clear.
_ID_TEXT = """
    activity_id chat_id conversation conversation_id document message_id owner patient patient_id
    principal principal_id round scenario sender session_id tenant tenant_id thread_id user user_id
"""
_IDS = frozenset(_ID_TEXT.split())
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


LogFormat: TypeAlias = Literal["json", "console"]
LogLevel: TypeAlias = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

# These log prompts, completions, request bodies or tokens when they are let to.
TALKATIVE = (
    "aiohttp", "azure", "botbuilder", "botframework", "httpcore", "httpx", "httpx2", "msal",
    "msrest", "openai", "semantic_kernel", "urllib3",
)  # fmt: skip


def configure_logs(*, log_format: LogFormat, level: LogLevel, stream: TextIO | None = None) -> None:
    """Log to `stream` (standard error if None): our lines from `level`, libraries' from WARNING."""
    target = sys.stderr if stream is None else stream
    renderer = _json if log_format == "json" else structlog.dev.ConsoleRenderer(colors=False)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _current_exception,
            lambda _, __, line: redacted(line),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.WriteLoggerFactory(file=target),
        cache_logger_on_first_use=False,
    )
    _configure_libraries()


class LibraryHandler(logging.Handler):
    """Logs that a library spoke and where, not what it said: that may quote a patient."""

    def __init__(self) -> None:
        super().__init__(level=logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Pass the place of `record` on; its text and arguments are never formatted."""
        log = structlog.get_logger()
        log.log(
            record.levelno,
            "library.message",
            library=record.name,
            where=f"{record.module}:{record.lineno}",
            exc_info=record.exc_info,
        )


def _configure_libraries() -> None:
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, logging.StreamHandler | LibraryHandler):
            root.removeHandler(handler)
    root.addHandler(LibraryHandler())
    root.setLevel(logging.WARNING)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    # Otherwise a failure inside logging prints the record's arguments.
    logging.raiseExceptions = False


def _current_exception(
    _: object, __: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    if line.get("exc_info") is True:
        line["exc_info"] = sys.exc_info()
    return line


def _json(_: object, __: str, line: MutableMapping[str, Any]) -> str:
    return orjson.dumps(line, default=str).decode()
