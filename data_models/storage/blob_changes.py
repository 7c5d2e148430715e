"""Changes a blob as it stands now, however many others change it.

It is read, made anew, and written only in the place of what was read; else once more.
"""

from collections.abc import Callable
from typing import TypeVar

from data_models.errors import BlobChangedError, BlobExistsError, StoreUnavailableError
from data_models.storage.blob_store import Blob, BlobStore

TRIES = 100
Made = TypeVar("Made", bound=bytes | None)


async def change_blob(
    store: BlobStore, name: str, change: Callable[[bytes | None], Made], *, what: str
) -> Made:
    """Store what `change` makes of a blob, and return that.

    Args:
        store: Where it lies.
        name: Which blob.
        change: Pure, given what is stored (None: nothing) and called again when somebody else was
            faster; where it returns None, all is left as it is.
        what: What others then change, for the error.

    Raises:
        StoreUnavailableError: others changed it all the time, or the store does not answer.
    """
    for _ in range(TRIES):
        blob = await store.read(name)
        data = change(None if blob is None else blob.data)
        if data is None or await put_blob(store, name, data, replaces=blob):
            return data
    raise StoreUnavailableError(f"{what} is changed all the time")


async def put_blob(
    store: BlobStore, name: str, data: bytes, *, replaces: Blob | None = None
) -> bool:
    """Write in the place of what was read (None: nothing); False if somebody else was faster."""
    try:
        if replaces is None:
            await store.create(name, data)
        elif replaces.data != data:
            await store.replace(name, data, etag=replaces.etag)
    except (BlobExistsError, BlobChangedError):
        return False
    return True
