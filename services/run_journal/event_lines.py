"""Turn events as lines of JSON, each with the name of its kind."""

from collections.abc import Iterable
from typing import Any, get_args

import orjson
from pydantic import TypeAdapter, ValidationError

from data_models.errors import CorruptDocumentError
from data_models.turn_events import TurnEvent

_KINDS: dict[str, TypeAdapter[Any]] = {
    kind.__name__: TypeAdapter(kind) for kind in get_args(TurnEvent)
}


def lines_of(events: Iterable[TurnEvent]) -> bytes:
    """Return `events`, a line for each."""
    return b"".join(_line(event) for event in events)


def events_in(lines: bytes) -> list[TurnEvent]:
    """Return the events of whole lines.

    Raises:
        CorruptDocumentError: a line is of no kind that this server knows; a newer one wrote it.
    """
    return [_event(line) for line in lines.splitlines()]


def _line(event: TurnEvent) -> bytes:
    kind = type(event).__name__
    return (
        orjson.dumps({"kind": kind, "event": _KINDS[kind].dump_python(event, mode="json")}) + b"\n"
    )


def _event(line: bytes) -> TurnEvent:
    try:
        row = orjson.loads(line)
        event: TurnEvent = _KINDS[row["kind"]].validate_python(row["event"])
    except (ValidationError, ValueError, KeyError, TypeError):
        # `from None`: pydantic quotes what it rejects.
        raise CorruptDocumentError("an event of a watched run") from None
    return event
