"""One file of resources: a Bundle of any type, single resources or ndjson, perhaps gzipped."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from data_models.errors import RecordsUnreadableError
from services.records.folder.json_stream import JsonStream, NotANumber, top_level

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
        self.problems: list[Problem] = []

    def entries(self) -> Iterator[Entry]:
        """Yield every resource as a Bundle's entry; what is broken is a problem, never an error."""
        try:
            with _opened(self._path) as file:
                bounded = _Bounded(source=file, limit_bytes=self._limit_bytes)
                yield from self._all(JsonStream(source=bounded))
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
            else:
                yield from self._of_top(found)

    def _of_top(self, found: Any) -> Iterator[Entry]:
        if not isinstance(found, dict) or not isinstance(found.get("resourceType"), str):
            self._note(self._here(), "is no FHIR resource: it has no resourceType")
        elif found["resourceType"] != "Bundle":
            self._count += 1
            yield {"resource": found}
        elif not isinstance(found.get("entry", []), list):
            self._note("Bundle", "entry: is no list")

    def _of_entry(self, entry: Any, deep: int) -> Iterator[Entry]:
        resource = entry.get("resource") if isinstance(entry, dict) else None
        if resource is None and isinstance(entry, dict):
            return  # a request or a response without a body is nothing of a chart
        if not isinstance(resource, dict) or not isinstance(resource.get("resourceType"), str):
            self._note(f"entry {self._count}", "resource: is no FHIR resource")
        elif resource["resourceType"] != "Bundle":
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


def _opened(path: Path) -> BinaryIO | gzip.GzipFile:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rb")
    return path.open("rb")
