"""Which conversations are whose: `users/{hash of owner}/{folder}`, in a container of its own."""

from data_models.identifiers import hashed, storage_folder
from data_models.storage.blob_store import BlobStore, put_blob

LISTED_CONVERSATIONS = 200


class OwnerIndex:
    """An entry per conversation, written before the conversation's first document.

    An entry without a conversation does no harm: the reader passes it over.
    """

    def __init__(self, *, store: BlobStore) -> None:
        self._store = store

    async def add(self, owner: str, conversation_id: str, *, is_listed: bool = True) -> None:
        """Note that `conversation_id` is `owner`'s; repeating it is no error.

        Args:
            is_listed: Whether the owner's list of conversations has it.
        """
        folder = _prefix(owner) if is_listed else f"users/{hashed(owner)}-unlisted/"
        name = f"{folder}{storage_folder(conversation_id)}"
        await put_blob(self._store, name, conversation_id.encode())

    async def read(self, owner: str) -> list[str]:
        """Return the owner's conversation ids, the newest 200, newest first."""
        rows = [row async for row in self._store.list(_prefix(owner))]
        rows.sort(key=lambda row: row.modified_at, reverse=True)
        blobs = [await self._store.read(row.name) for row in rows[:LISTED_CONVERSATIONS]]
        return [blob.data.decode(errors="replace") for blob in blobs if blob is not None]


def _prefix(owner: str) -> str:
    return f"users/{hashed(owner)}/"
