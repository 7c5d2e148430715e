"""What a backup holds: a line for each blob, and a page that says that it is whole."""

import hashlib
from collections.abc import Iterator

from pydantic import AwareDatetime, BaseModel, ValidationError

from data_models.errors import BackupError
from services.operations.backup_files import BackupFiles

ROWS = "manifest.jsonl"
SUMMARY = "manifest.json"


class BackupRow(BaseModel):
    """One blob; its file is `{container}/{name}` of the backup."""

    container: str
    name: str
    size_bytes: int
    sha256: str

    @property
    def path(self) -> str:
        """Where its file is."""
        return f"{self.container}/{self.name}"


class BackupSummary(BaseModel):
    """Written last: a backup without it was interrupted.

    Attributes:
        rows_sha256: Of `manifest.jsonl`, so that a row taken out is noticed.
    """

    made_at: AwareDatetime
    folders: int
    blobs: int
    size_bytes: int
    rows_sha256: str


async def read_summary(files: BackupFiles) -> BackupSummary:
    """Return the summary of the backup, after a look at its list.

    Raises:
        BackupError: there is none, it is not ours, or the list was changed.
    """
    data = await files.read(SUMMARY)
    if data is None:
        raise BackupError(f"{files.place} holds no whole backup: {SUMMARY} is missing")
    try:
        summary = BackupSummary.model_validate_json(data)
    except ValidationError:
        raise BackupError(f"{SUMMARY} of {files.place} is not a backup's") from None
    if sha256_of(await _list(files)) != summary.rows_sha256:
        raise BackupError(f"{ROWS} of {files.place} was changed after the backup was made")
    return summary


async def read_rows(files: BackupFiles) -> Iterator[BackupRow]:
    """Return the rows, each of which is parsed when it is its turn.

    Raises:
        BackupError: there is no list.
    """
    return map(BackupRow.model_validate_json, (await _list(files)).splitlines())


async def _list(files: BackupFiles) -> bytes:
    data = await files.read(ROWS)
    if data is None:
        raise BackupError(f"{ROWS} of {files.place} is missing")
    return data


def sha256_of(data: bytes) -> str:
    """Return the SHA-256, as hex digits."""
    return hashlib.sha256(data).hexdigest()
