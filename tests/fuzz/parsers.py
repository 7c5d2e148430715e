"""Feeds what atheris makes up to one parser: `python -m tests.fuzz.parsers frame -runs=1000`.

A program of its own: libFuzzer ends the process, with an exit code other than 0 at the first input
that the parser neither reads nor refuses with its own error.
"""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

import atheris

from data_models.errors import BadFrameError, EntityDeltaError

Parser: TypeAlias = Callable[[bytes], None]
DEPTH_LIMIT = 4
WIDTH_LIMIT = 6


def frame() -> Parser:
    """What a web client may send."""
    with atheris.instrument_imports(include=["routes"]):
        from routes.streams.socket_session import MessageFrame, StopFrame, parse_client_frame

    def parse(data: bytes) -> None:
        try:
            read = parse_client_frame(data)
        except BadFrameError as error:
            _says_nothing_of_it(error)
            return
        assert isinstance(read, MessageFrame | StopFrame)

    return parse


def activity() -> Parser:
    """What a channel may post."""
    with atheris.instrument_imports(include=["bots.reference"]):
        from bots.reference import Inbound, parse_activity

    def parse(data: bytes) -> None:
        try:
            read = parse_activity(data)
        except BadFrameError as error:
            _says_nothing_of_it(error)
            return
        assert isinstance(read, Inbound)
        assert read.tenant is None or isinstance(read.tenant, str)

    return parse


def delta() -> Parser:
    """What a model may write of entities."""
    with atheris.instrument_imports(include=["services.entities"]):
        from services.entities.delta import EntityDelta, parse_entity_delta

    def parse(data: bytes) -> None:
        with suppress(EntityDeltaError):
            assert isinstance(parse_entity_delta(data.decode(errors="replace")), EntityDelta)

    return parse


def _says_nothing_of_it(error: BadFrameError) -> None:
    assert error.__cause__ is None, "the cause would quote what was sent"


FRAME_WORDS = [
    *("type", "message", "stop", "content", "sender", "client_message_id", "mentions", "run_id"),
    *("time_zone", "press", "target_id", "answer", "steps", "edits", "number", "text"),
]
ACTIVITY_WORDS = [
    *("type", "message", "id", "from", "conversation", "recipient", "channelId", "channelData"),
    *("tenant", "tenantId", "serviceUrl", "entities", "mentioned", "text", "value", "msteams"),
]
DELTA_WORDS = [
    *("entities_to_update", "derived_entities_to_update", "entities_to_remove", "entities"),
    *("response", "key", "value", "agent", "name", "derivation", "confidence", "sources"),
]
PARSERS: Mapping[str, tuple[Callable[[], Parser], list[str]]] = {
    "frame": (frame, FRAME_WORDS),
    "activity": (activity, ACTIVITY_WORDS),
    "delta": (delta, DELTA_WORDS),
}


def shaped(source: atheris.FuzzedDataProvider, words: list[str], depth: int = 0) -> Any:
    """Make a JSON value of known words out of bytes, which by themselves seldom are JSON."""
    width = range(source.ConsumeIntInRange(0, WIDTH_LIMIT))
    match source.ConsumeIntInRange(0, 7 if depth < DEPTH_LIMIT else 5):
        case 0:
            return None
        case 1:
            return source.ConsumeBool()
        case 2:
            return source.ConsumeInt(9)
        case 3:
            return source.ConsumeFloat()
        case 4:
            return source.PickValueInList(words)
        case 5:
            return source.ConsumeUnicode(24)
        case 6:
            return [shaped(source, words, depth + 1) for _ in width]
        case _:
            names = [source.PickValueInList(words) for _ in width]
            return {name: shaped(source, words, depth + 1) for name in names}


def main(arguments: list[str]) -> None:
    """Fuzz the parser that the first argument names; the others are libFuzzer's."""
    name, *more = arguments
    imported, words = PARSERS[name]
    parse = imported()

    def both(data: bytes) -> None:
        parse(data)
        source = atheris.FuzzedDataProvider(data)
        value = {word: shaped(source, words) for word in words if source.ConsumeBool()}
        parse(json.dumps(value).encode())

    atheris.Setup([sys.argv[0], *more], both)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
