"""Keeps the lists of rounds beside the conversations, with conditional writes.

`rounds/{id}.json` is a list, `rounds/{id}/{patient}.json` what people wrote on it. Which lists are
whose, and which are not prepared yet, stand in two folders of empty blobs: nobody reads all lists.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from data_models.blob_names import is_blob_name
from data_models.blob_store import Blob, BlobStore
from data_models.errors import (
    BlobChangedError,
    BlobExistsError,
    CorruptDocumentError,
    NoSuchListError,
    StoreUnavailableError,
)
from data_models.identifiers import PatientId, hashed
from services.rounds.round_list import RoundList, RoundNotes

FOLDER = "rounds"
LISTED = 20
_OPEN = "rounds-open"
_OWNED = "rounds-of"
_MARK = b"{}"
_TRIES = 100
_ID_LIMIT_CHARS = 100
_ModelT = TypeVar("_ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundBook:
    """Every method raises `StoreUnavailableError` when the store does not answer."""

    store: BlobStore

    async def create(self, found: RoundList) -> None:
        """Keep a new list; durable, and to be prepared by any replica, when this returns."""
        await self.store.create(_name(found.round_id), found.model_dump_json().encode())
        await self.share(found.round_id, found.owner)
        await self.reopen(found.round_id)

    async def share(self, round_id: str, principal: str) -> None:
        """List it among the lists of `principal`; repeating it is no error."""
        await self._mark(f"{_OWNED}/{hashed(principal)}/{round_id}")

    async def reopen(self, round_id: str) -> None:
        """Note that somebody of it is to be prepared; repeating it is no error."""
        await self._mark(f"{_OPEN}/{round_id}")

    async def note_done(self, round_id: str) -> None:
        """Note that all of it is prepared, or that there is no such list."""
        await self.store.delete(f"{_OPEN}/{round_id}")

    async def list_unprepared(self) -> list[str]:
        """Return the ids of lists that are not prepared yet."""
        return [row.name.rpartition("/")[2] async for row in self.store.list(f"{_OPEN}/")]

    async def list_lists(self, principal: str) -> list[RoundList]:
        """Return the newest 20 lists that `principal` made or was handed patients of."""
        rows = [row async for row in self.store.list(f"{_OWNED}/{hashed(principal)}/")]
        rows.sort(key=lambda row: row.modified_at, reverse=True)
        found = [await self._read_list(row.name.rpartition("/")[2]) for row in rows[:LISTED]]
        return [one for one in found if one is not None]

    async def read(self, round_id: str) -> RoundList:
        """Return a list.

        Raises:
            NoSuchListError: malformed or absent.
            CorruptDocumentError: it cannot be read.
        """
        return (await self._read(round_id))[0]

    async def change(
        self, round_id: str, change: Callable[[RoundList], RoundList | None]
    ) -> RoundList | None:
        """Change a list as it stands now, however many others change it; return it as stored.

        Args:
            change: Pure, called again when somebody else was faster; None: leave it as it is.

        Raises:
            NoSuchListError: malformed or absent.
            CorruptDocumentError: it cannot be read.
        """
        for _ in range(_TRIES):
            before, etag = await self._read(round_id)
            after = change(before)
            if after is None:
                return None
            data = after.model_dump_json().encode()
            try:
                await self.store.replace(_name(round_id), data, etag=etag)
            except BlobChangedError:
                continue
            return after
        raise StoreUnavailableError("a list of a round is changed all the time")

    async def notes(self, round_id: str, patient_id: PatientId) -> RoundNotes:
        """Return what people wrote about a patient of the list."""
        blob = await self.store.read(_notes_name(round_id, patient_id))
        return RoundNotes() if blob is None else _parsed(RoundNotes, blob)

    async def change_notes(
        self, round_id: str, patient_id: PatientId, change: Callable[[RoundNotes], RoundNotes]
    ) -> RoundNotes:
        """Change what is written about a patient; return it as stored."""
        name = _notes_name(round_id, patient_id)
        for _ in range(_TRIES):
            blob = await self.store.read(name)
            after = change(RoundNotes() if blob is None else _parsed(RoundNotes, blob))
            data = after.model_dump_json().encode()
            try:
                if blob is None:
                    await self.store.create(name, data)
                else:
                    await self.store.replace(name, data, etag=blob.etag)
            except (BlobExistsError, BlobChangedError):
                continue
            return after
        raise StoreUnavailableError("the notes of a round are changed all the time")

    async def _mark(self, name: str) -> None:
        try:
            await self.store.create(name, _MARK)
        except BlobExistsError:
            return

    async def _read_list(self, round_id: str) -> RoundList | None:
        """A list that cannot be read is told to who opens it, and hides no other."""
        try:
            return await self.read(round_id)
        except (NoSuchListError, CorruptDocumentError):
            return None

    async def _read(self, round_id: str) -> tuple[RoundList, str]:
        if len(round_id) > _ID_LIMIT_CHARS or "/" in round_id or not is_blob_name(round_id):
            raise NoSuchListError
        blob = await self.store.read(_name(round_id))
        if blob is None:
            raise NoSuchListError
        return _parsed(RoundList, blob), blob.etag


def without_patient(name: str, data: bytes, patient_id: PatientId) -> bytes | None:
    """Return a blob below `rounds/` without the patient; `b""`: it is the patient's whole.

    None if it holds nothing of the patient. A list that cannot be read and names the patient goes.
    """
    if name.endswith(f"/{patient_id}.json") and name.count("/") > 1:
        return b""
    if patient_id.encode() not in data:
        return None
    try:
        found = RoundList.model_validate_json(data)
    except ValidationError:
        return b""
    rest = found.without(patient_id)
    return None if rest == found else rest.model_dump_json().encode()


def _name(round_id: str) -> str:
    return f"{FOLDER}/{round_id}.json"


def _notes_name(round_id: str, patient_id: PatientId) -> str:
    return f"{FOLDER}/{round_id}/{patient_id}.json"


def _parsed(model: type[_ModelT], blob: Blob) -> _ModelT:
    try:
        return model.model_validate_json(blob.data)
    except ValidationError:
        # `from None`: pydantic quotes what it rejects.
        raise CorruptDocumentError("a list of a round cannot be read") from None
