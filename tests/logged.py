"""What is logged, as a test may read it; afterwards logging is as it was, also that of libraries.

Left behind, the handler of a server writes each exception that a later test provokes, with all the
variables of its frames: a sweep of 7 seconds took 120.
"""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from services.telemetry.logs import TALKATIVE, configure_logs


@contextmanager
def logs_as_they_were() -> Iterator[None]:
    """Put back whatever is configured meanwhile."""
    root, ours = logging.getLogger(), structlog.get_config()
    handlers, level, raising = list(root.handlers), root.level, logging.raiseExceptions
    levels = {name: logging.getLogger(name).level for name in TALKATIVE}
    yield
    logging.captureWarnings(capture=False)
    structlog.configure(**ours)
    structlog.contextvars.clear_contextvars()
    root.handlers, logging.raiseExceptions = handlers, raising
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """Yield what is logged, our own lines down to DEBUG."""
    stream = io.StringIO()
    with logs_as_they_were():
        configure_logs(log_format="json", level="DEBUG", stream=stream)
        yield stream
