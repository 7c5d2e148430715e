"""One server for one local folder: a lock that ends with its process, however that ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from data_models.errors import ConfigurationError
from data_models.local_files import FOLDER_MODE
from data_models.local_locks import try_lock

LOCK_FILE = "server.lock"


@contextmanager
def folder_held(folder: Path) -> Iterator[None]:
    """Hold `folder` for this process.

    Raises:
        ConfigurationError: another process holds it, or it cannot be written to.
    """
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        file = (folder / LOCK_FILE).open("a+b")
    except OSError:
        raise ConfigurationError(
            f"DATA_DIR: {folder} cannot be written to. Example: DATA_DIR=./data"
        ) from None
    with file:
        if not try_lock(file.fileno()):
            raise ConfigurationError(
                f"DATA_DIR: another server uses {folder}, and two on one local folder may get in "
                "each other's way. Stop it, choose another folder, or use Azure storage. "
                "Example: DATA_DIR=./data2"
            )
        yield
