"""The Patient resources of a folder of bundles, for whoever looks a person up."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from data_models.errors import RecordsUnavailableError
from services.records.bundle_records import entries_of

_Stamp = tuple[int, int]
_Body = dict[str, Any]


class BundlePatients:
    """Reads `{folder}/*.json`; a file is read again when it changed."""

    def __init__(self, *, folder: Path) -> None:
        self._folder = folder
        self._kept: Mapping[str, tuple[_Stamp, Sequence[_Body]]] = {}

    async def all(self) -> Sequence[_Body]:
        """Return every Patient.

        Raises:
            RecordsUnavailableError: the folder cannot be read.
            RecordsUnreadableError: a file is no bundle.
        """
        self._kept = await asyncio.to_thread(self._read)
        return [body for _, bodies in self._kept.values() for body in bodies]

    def _read(self) -> Mapping[str, tuple[_Stamp, Sequence[_Body]]]:
        try:
            return {path.name: self._of(path) for path in sorted(self._folder.glob("*.json"))}
        except OSError as error:
            raise RecordsUnavailableError("the bundles could not be read") from error

    def _of(self, path: Path) -> tuple[_Stamp, Sequence[_Body]]:
        found = path.stat()
        stamp = (found.st_mtime_ns, found.st_size)
        kept = self._kept.get(path.name)
        if kept is not None and kept[0] == stamp:
            return kept
        rows = [entry.get("resource") or {} for entry in entries_of(path.read_bytes())]
        return stamp, [row for row in rows if row.get("resourceType") == "Patient" and "id" in row]
