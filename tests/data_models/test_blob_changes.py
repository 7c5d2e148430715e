"""A change is made of what is stored now, and of nothing that somebody has overwritten."""

import pytest

from data_models.errors import StoreUnavailableError
from data_models.storage import blob_store
from data_models.storage.blob_store import Blob, change_blob, put_blob
from tests.fakes_store import MemoryBlobStore


class Crowded(MemoryBlobStore):
    """Others write as often as `others` says, each time between a read and the write after it."""

    others = 0

    async def read(self, name: str) -> Blob | None:
        found = await super().read(name)
        if self.others:
            self.others -= 1
            await put_blob(self, name, (found.data if found else b"") + b"o", replaces=found)
        return found


async def change(store: Crowded) -> bytes:
    return await change_blob(store, "a/b", lambda data: (data or b"") + b"m", what="it")


@pytest.mark.parametrize("others", [0, 1, 3])
async def test_what_others_wrote_meanwhile_is_in_what_is_made(others: int) -> None:
    store = Crowded()
    store.others = others
    assert await change(store) == b"o" * others + b"m"
    assert store.contents == {"a/b": b"o" * others + b"m"}


async def test_none_leaves_all_as_it_is() -> None:
    store = MemoryBlobStore()
    await store.create("a/b", b"here")
    await change_blob(store, "a/b", lambda _: None, what="it")
    assert store.contents == {"a/b": b"here"}


async def test_others_who_never_end_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob_store, "TRIES", 2)
    store = Crowded()
    store.others = 100
    with pytest.raises(StoreUnavailableError, match="it is changed all the time"):
        await change(store)
