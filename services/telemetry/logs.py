"""Sets logging up, for us and for the libraries."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Literal, TextIO, TypeAlias

import orjson
import structlog

from services.telemetry.redaction import redacted

LogFormat: TypeAlias = Literal["json", "console"]
LogLevel: TypeAlias = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

# These log prompts, completions, request bodies or tokens when they are let to.
TALKATIVE = (
    "aiohttp",
    "azure",
    "botbuilder",
    "botframework",
    "httpcore",
    "httpx",
    "msal",
    "msrest",
    "openai",
    "semantic_kernel",
    "urllib3",
)


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
            _redact,
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


def _redact(_: object, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return redacted(line)


def _json(_: object, __: str, line: MutableMapping[str, Any]) -> str:
    return orjson.dumps(line, default=str).decode()
