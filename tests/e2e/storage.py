"""What a server has stored, looked at from outside: neither place knows our own stores."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import orjson
from azure.storage.blob import ContainerClient

CONTAINER = "chat-sessions"


class StoredBlobs(Protocol):
    """All blobs of the sessions' container."""

    def names(self, prefix: str) -> set[str]:
        """Return the names that begin with `prefix`."""
        ...

    def read(self, name: str) -> bytes:
        """Return one blob."""
        ...


class StoredFiles:
    """Files below `DATA_DIR`."""

    def __init__(self, data: Path) -> None:
        self._root = data / CONTAINER

    def names(self, prefix: str) -> set[str]:
        # Not rglob: a server that runs removes folders while they are listed; os.walk skips those.
        folders = (
            (Path(folder).relative_to(self._root), files)
            for folder, _, files in os.walk(self._root)
        )
        found = {(folder / file).as_posix() for folder, files in folders for file in files}
        return {name for name in found if name.startswith(prefix)}

    def read(self, name: str) -> bytes:
        return (self._root / name).read_bytes()


class StoredInAzure:
    """Blobs in an Azure Storage account."""

    def __init__(self, connection_string: str) -> None:
        self._container = ContainerClient.from_connection_string(connection_string, CONTAINER)

    def names(self, prefix: str) -> set[str]:
        return {str(blob.name) for blob in self._container.list_blobs(name_starts_with=prefix)}

    def read(self, name: str) -> bytes:
        data: bytes = self._container.download_blob(name).readall()
        return data

    def close(self) -> None:
        self._container.close()


class Stored:
    """One conversation's part of a stored_blobs; names are relative to its folder."""

    def __init__(self, stored_blobs: StoredBlobs, conversation: str) -> None:
        self._shelf = stored_blobs
        self._prefix = f"{quote(conversation, safe='')}/"

    def names(self) -> set[str]:
        """Return the names of all that is stored."""
        return {name.removeprefix(self._prefix) for name in self._shelf.names(self._prefix)}

    def read(self, name: str) -> bytes:
        """Return one blob."""
        return self._shelf.read(self._prefix + name)

    def document(self, name: str) -> dict[str, Any]:
        """Return one JSON document."""
        value: dict[str, Any] = orjson.loads(self.read(name))
        return value

    def all_of(self, patient: str) -> Mapping[str, bytes]:
        """Return everything of one patient, byte for byte."""
        names = (name for name in self.names() if name.startswith(f"patient_{patient}_"))
        return {name: self.read(name) for name in names}
