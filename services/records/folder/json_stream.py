"""Reads long JSON in small steps: no step holds the interpreter for more than one resource.

Errors say where a text ends or breaks, and quote nothing of it.

A whole `json.loads` of 30 MB stops the event loop for a second, though it runs in a thread.
"""

import codecs
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final, Protocol

from data_models.errors import RecordsUnreadableError

_CHUNK_BYTES: Final = 1 << 18
VALUE_LIMIT_CHARS: Final = 64_000_000
"""One resource, with the documents inside it, may be so long."""
_ERROR_NEAR_END_CHARS: Final = 16
"""What is cut off in a word or a number is reported so near the end of what was decoded."""
_SPACES: Final = re.compile(r"[ \t\r\n]*")


class NotANumber:
    """Stands where a file has NaN or Infinity, so that no element takes it for a value."""


class ByteSource(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end."""
        ...


def _no_number(_: str) -> NotANumber:
    return NotANumber()


_DECODER: Final = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_number)


class JsonStream:
    """The characters of a file, decoded as they are needed."""

    def __init__(self, *, source: ByteSource) -> None:
        self._source = source
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._place = 0
        self._passed = 0
        self._ended = False

    def place(self) -> int:
        """Return how many characters were read so far."""
        return self._passed + self._place

    def peek(self) -> str:
        """Return the next character that is no space, "" at the end.

        Raises:
            RecordsUnreadableError: the file is not UTF-8.
        """
        while True:
            spaces = _SPACES.match(self._text, self._place)
            self._place = spaces.end() if spaces else self._place
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more(_CHUNK_BYTES):
                return ""

    def take(self, expected: str) -> bool:
        """Pass over `expected` if it comes next."""
        if self.peek() != expected:
            return False
        self._place += 1
        return True

    def value(self) -> Any:
        """Return the next value.

        Raises:
            RecordsUnreadableError: there is none, it is broken, or it is over `VALUE_LIMIT_CHARS`.
        """
        if not self.peek():
            raise self._early()
        wanted = _CHUNK_BYTES
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._place)
            except RecursionError:
                raise RecordsUnreadableError(
                    f"is nested too deeply at character {self.place()}"
                ) from None
            except ValueError as error:
                if self._may_go_on(error) and self._more(wanted):
                    wanted *= 2
                    continue
                # Not `from error`: the parser's error holds the text.
                raise self._broken(error) from None
            # A number at the very end of what is decoded may go on in the next piece.
            if end == len(self._text) and self._more(wanted):
                continue
            self._place = end
            return found

    def _may_go_on(self, error: ValueError) -> bool:
        """Tell whether a value is cut off where the decoded text ends, rather than broken."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        is_cut = error.pos >= len(self._text) - _ERROR_NEAR_END_CHARS
        return is_cut or error.msg.startswith("Unterminated string")

    def _broken(self, error: ValueError) -> RecordsUnreadableError:
        if self._may_go_on(error):
            return self._early()
        at = error.pos if isinstance(error, json.JSONDecodeError) else self._place
        return RecordsUnreadableError(f"is no JSON at character {self._passed + at}")

    def _early(self) -> RecordsUnreadableError:
        return RecordsUnreadableError(
            f"ends in the middle, after {self._passed + len(self._text)} characters"
        )

    def _more(self, count: int) -> bool:
        """Decode more of the file; False at its end."""
        if self._ended:
            return False
        if len(self._text) - self._place > VALUE_LIMIT_CHARS:
            raise RecordsUnreadableError(
                f"holds a value of more than {VALUE_LIMIT_CHARS} characters"
            )
        data = self._source.read(count)
        self._ended = not data
        try:
            added = self._decode.decode(data, self._ended)
        except UnicodeDecodeError:
            raise RecordsUnreadableError(f"is not UTF-8 after {self._passed} characters") from None
        self._passed += self._place
        self._text, self._place = self._text[self._place :] + added, 0
        return bool(added) or not self._ended


def top_level(stream: JsonStream) -> Iterator[tuple[str | None, Any]]:
    """Yield what a file holds: the elements of `entry` as `("entry", value)`, the rest whole.

    The other fields of an object come last, as `(None, {…})`. Several values in a row (ndjson)
    and a list of values are read as each of them.

    Raises:
        RecordsUnreadableError: see `JsonStream.value`; what came before has been yielded.
    """
    while stream.peek():
        if stream.peek() == "[":
            for each in _elements(stream):
                yield None, each
        elif stream.peek() == "{":
            yield from _object(stream)
        else:
            yield None, stream.value()


def _object(stream: JsonStream) -> Iterator[tuple[str | None, Any]]:
    fields: dict[str, Any] = {}
    stream.take("{")
    while not stream.take("}"):
        key = stream.value()
        if not isinstance(key, str) or not stream.take(":"):
            raise RecordsUnreadableError(f"is no JSON at character {stream.place()}")
        if key == "entry" and stream.peek() == "[":
            for each in _elements(stream):
                yield "entry", each
        else:
            fields[key] = stream.value()
        _separator(stream, "}")
    yield None, fields


def _elements(stream: JsonStream) -> Iterator[Any]:
    stream.take("[")
    while not stream.take("]"):
        yield stream.value()
        _separator(stream, "]")


def _separator(stream: JsonStream, closing: str) -> None:
    if stream.take(",") or stream.peek() == closing:
        return
    if not stream.peek():
        raise RecordsUnreadableError(f"ends in the middle, after {stream.place()} characters")
    raise RecordsUnreadableError(f"is no JSON at character {stream.place()}")
