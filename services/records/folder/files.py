"""One file of resources: a Bundle of any type, single resources or ndjson, perhaps gzipped."""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from data_models.errors import RecordsUnreadableError
from services.records.folder.owners import normal
from services.records.resources.entry import one, text

# Reads long JSON in small steps: no step holds the interpreter for more than one resource.
#
# Errors say where a text ends or breaks, and quote nothing of it.
#
# A whole `json.loads` of 30 MB stops the event loop for a second, though it runs in a thread.

_CHUNK_BYTES: Final = 1 << 18
VALUE_LIMIT_CHARS: Final = 64_000_000
"""One resource, with the documents inside it, may be so long."""
_ERROR_NEAR_END_CHARS: Final = 16
"""What is cut off in a word or a number is reported so near the end of what was decoded."""
_SPACES: Final = re.compile(r"[ \t\r\n]*")


class NotANumber:
    """Stands where a file has NaN or Infinity, so that no element takes it for a value."""


_DECODER: Final = json.JSONDecoder(parse_float=Decimal, parse_constant=lambda _: NotANumber())


class JsonStream:
    """The characters of a file, decoded as they are needed."""

    def __init__(self, *, read: Callable[[int], bytes]) -> None:
        self._read = read
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
        data = self._read(count)
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


UNPACKED_LIMIT_BYTES: Final = 500_000_000
PROBLEMS_LIMIT: Final = 1_000
_SUFFIXES: Final = (".json", ".ndjson", ".json.gz", ".ndjson.gz")
_BUNDLES_DEEP: Final = 3
_BESIDE: Final = frozenset({"scheduling", "assistant", "scenarios"})

Stamp: TypeAlias = tuple[int, int]
"""When a file was written (nanoseconds) and how many bytes it has."""
Entry: TypeAlias = Mapping[str, Any]
"""`{"fullUrl", "resource"}` of a Bundle."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What of a file could not be read.

    Attributes:
        file: Below the folder.
        place: Resource or entry, such as `Observation/x` or `entry 57`; "" for the whole file.
        reason: With the element; nothing that the file holds is quoted.
    """

    file: str
    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {f'{self.place}: ' if self.place else ''}{self.reason}"


def files_in(folder: Path) -> Mapping[Path, Stamp]:
    """Return the files of resources below `folder`; links to folders are not followed.

    Raises:
        OSError: the folder cannot be read.
    """
    found: dict[Path, Stamp] = {}
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        for each in here.iterdir():
            if each.is_dir():
                # What stands beside the patients is no patient's.
                if not each.is_symlink() and not (here == folder and each.name in _BESIDE):
                    waiting.append(each)
            elif each.name.lower().endswith(_SUFFIXES) and not each.name.startswith("."):
                found[each] = _stamp(each)
    return dict(sorted(found.items()))


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:  # a broken link, or gone meanwhile: reading it tells why
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


class ResourceFile:
    """Reads the resources of one file, and notes what it could not read.

    Args:
        name: How problems call the file.
    """

    def __init__(self, *, path: Path, name: str, limit_bytes: int = UNPACKED_LIMIT_BYTES) -> None:
        self._path = path
        self._name = name
        self._limit_bytes = limit_bytes
        self._count = 0
        self._deleted: set[str] = set()
        self.problems: list[Problem] = []

    def entries(self) -> Iterator[Entry]:
        """Yield every resource as a Bundle's entry; what is broken is a problem, never an error."""
        try:
            is_packed = self._path.name.lower().endswith(".gz")
            with gzip.open(self._path) if is_packed else self._path.open("rb") as file:
                bounded = _Bounded(source=file, limit_bytes=self._limit_bytes)
                yield from self._all(JsonStream(read=bounded.read))
        except RecordsUnreadableError as error:
            self.problems.append(Problem(self._name, self._here(), str(error)))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self._note(self._here(), "is a damaged gzip file")
        except OSError as error:
            self._note("", f"cannot be read ({type(error).__name__})")

    def _all(self, stream: JsonStream) -> Iterator[Entry]:
        if not stream.peek():
            self._note("", "is empty")
        for key, found in top_level(stream):
            if key == "entry":
                self._count += 1
                yield from self._of_entry(found, _BUNDLES_DEEP)
            elif not isinstance(found, dict) or not isinstance(found.get("resourceType"), str):
                self._note(self._here(), "is no FHIR resource: it has no resourceType")
            elif found["resourceType"] != "Bundle":
                self._count += 1
                yield {"resource": found}
            elif not isinstance(found.get("entry", []), list):
                self._note("Bundle", "entry: is no list")

    def _of_entry(self, entry: Any, deep: int) -> Iterator[Entry]:
        resource = entry.get("resource") if isinstance(entry, dict) else None
        if resource is None and isinstance(entry, dict):
            # A request or a response without a body is nothing of a chart; a history, the newest
            # first, tells by one that what follows of that id is gone.
            request = one(entry, "request")
            if text(request, "method") == "DELETE":
                self._deleted.add(normal(text(request, "url")))
            return
        if not isinstance(resource, dict) or not isinstance(resource.get("resourceType"), str):
            self._note(f"entry {self._count}", "resource: is no FHIR resource")
        elif resource["resourceType"] != "Bundle":
            if f"{resource['resourceType']}/{resource.get('id')}" not in self._deleted:
                yield entry
        elif deep == 0:
            self._note(f"entry {self._count}", f"is a Bundle within {_BUNDLES_DEEP} Bundles")
        else:
            inner = resource.get("entry", [])
            for each in inner if isinstance(inner, list) else ():
                yield from self._of_entry(each, deep - 1)

    def _here(self) -> str:
        return f"after entry {self._count}" if self._count else ""

    def _note(self, place: str, reason: str) -> None:
        if len(self.problems) == PROBLEMS_LIMIT:
            self.problems.append(Problem(self._name, "", "has more problems, which are not listed"))
        elif len(self.problems) < PROBLEMS_LIMIT:
            self.problems.append(Problem(self._name, place, reason))


def whole_numbers(value: Any) -> Any:
    """Return JSON with plain numbers in place of exact ones, to be written as JSON again."""
    if isinstance(value, dict):
        return {key: whole_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [whole_numbers(inner) for inner in value]
    if isinstance(value, Decimal):
        return float(value)
    return None if isinstance(value, NotANumber) else value


class _Bounded:
    """Reads no more than so many bytes of `source`."""

    def __init__(self, *, source: BinaryIO | gzip.GzipFile, limit_bytes: int) -> None:
        self._source = source
        self._limit_bytes = limit_bytes
        self._left = limit_bytes

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self._left -= len(data)
        if self._left < 0:
            reason = f"is over {self._limit_bytes} bytes when unpacked"
            raise RecordsUnreadableError(reason)
        return data
