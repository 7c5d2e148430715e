"""What a backup holds: a line for each blob, and a page that says that it is whole."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ValidationError

from data_models.errors import BackupError

ROWS = "manifest.jsonl"
SUMMARY = "manifest.json"


class BackupRow(BaseModel):
    """One blob; its file is `{container}/{name}` in the backup's folder."""

    container: str
    name: str
    size_bytes: int
    sha256: str


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


def read_summary(folder: Path) -> BackupSummary:
    """Return the summary of the backup in `folder`, after a look at its list.

    Raises:
        BackupError: there is none, it is not ours, or the list was changed.
    """
    try:
        summary = BackupSummary.model_validate_json((folder / SUMMARY).read_bytes())
    except FileNotFoundError:
        raise BackupError(f"{folder} holds no whole backup: {SUMMARY} is missing") from None
    except ValidationError:
        raise BackupError(f"{SUMMARY} of {folder} is not a backup's") from None
    if sha256_of(folder / ROWS) != summary.rows_sha256:
        raise BackupError(f"{ROWS} of {folder} was changed after the backup was made")
    return summary


def read_rows(folder: Path) -> Iterator[BackupRow]:
    """Yield the rows one by one: a list may be longer than memory."""
    with (folder / ROWS).open("rb") as lines:
        for line in lines:
            yield BackupRow.model_validate_json(line)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as hex digits.

    Raises:
        BackupError: there is no such file.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise BackupError(f"{path} is missing") from None
