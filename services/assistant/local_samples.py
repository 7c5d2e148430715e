"""What a new user finds: copies of the sample files, with days counted from today."""

import re
from datetime import date, timedelta
from pathlib import Path

_DAY = re.compile(rb"\{today([+-]\d{1,3})?\}")


class LocalSamples:
    """Reads files of `folder` (None: there are none).

    `{today}`, `{today-3}` and `{today+1}` in a file stand for ISO dates, so that there is
    always something for yesterday and tomorrow.
    """

    def __init__(self, *, folder: Path | None) -> None:
        self._folder = folder

    def file(self, name: str, *, today: date) -> bytes | None:
        """Return a sample, or None if there is none of that name."""
        path = None if self._folder is None else self._folder / name
        if path is None or not path.is_file():
            return None
        return _DAY.sub(lambda found: _day(found[1], today), path.read_bytes())

    def documents(self) -> list[tuple[str, bytes]]:
        """Return names and contents of the sample documents."""
        folder = None if self._folder is None else self._folder / "documents"
        if folder is None or not folder.is_dir():
            return []
        return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]


def _day(offset: bytes | None, today: date) -> bytes:
    return (today + timedelta(days=int(offset or b"0"))).isoformat().encode()
