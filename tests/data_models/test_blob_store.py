"""A name that passes stays in its folder on every store; every folder of ours passes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import InvalidIdentifierError, StoreUnavailableError
from data_models.identifiers import storage_folder
from data_models.storage import blob_store
from tests.fakes_store import MemoryBlobStore

NEARLY_NAMES = st.text(alphabet="ab./\\:~%\n\x00 -_", max_size=12)


@pytest.mark.slow
@given(NEARLY_NAMES | st.text(max_size=20))
def test_a_legal_name_stays_under_its_root(name: str) -> None:
    if blob_store.is_blob_name(name):
        root = Path("/data/chat-sessions")
        path = root / name
        assert path.resolve() == path
        assert path.is_relative_to(root)
        assert path != root
        assert name.isascii()


@given(st.text(min_size=1, max_size=300).filter(lambda text: text.isprintable()))
@pytest.mark.slow
def test_every_conversation_has_a_legal_name(conversation: str) -> None:
    name = f"{storage_folder(conversation)}/conversation.json"
    assert blob_store.checked_blob_name(name) == name


@given(NEARLY_NAMES)
def test_a_prefix_is_a_name_and_a_slash(text: str) -> None:
    if blob_store.is_blob_name(text):
        assert blob_store.checked_blob_prefix(f"{text}/") == f"{text}/"
    with pytest.raises(InvalidIdentifierError):
        blob_store.checked_blob_prefix(text.rstrip("/"))
    with pytest.raises(InvalidIdentifierError):
        blob_store.checked_blob_prefix(f"{text}//")


@pytest.mark.parametrize(("length", "legal"), [(255, True), (256, False)])
def test_a_segment_fits_a_file_system(length: int, *, legal: bool) -> None:
    assert blob_store.is_blob_name("a/" + "x" * length) is legal


@pytest.mark.parametrize(("length", "legal"), [(1_024, True), (1_025, False)])
def test_a_name_fits_the_service(length: int, *, legal: bool) -> None:
    assert blob_store.is_blob_name(("x/" * 600)[: length - 1] + "x") is legal


class Crowded(MemoryBlobStore):
    """Others write as often as `others` says, each time between a read and the write after it."""

    others = 0

    async def read(self, name: str) -> blob_store.Blob | None:
        found = await super().read(name)
        if self.others:
            self.others -= 1
            await blob_store.put_blob(
                self, name, (found.data if found else b"") + b"o", replaces=found
            )
        return found


async def change(store: Crowded) -> bytes:
    return await blob_store.change_blob(store, "a/b", lambda data: (data or b"") + b"m", what="it")


@pytest.mark.parametrize("others", [0, 1, 3])
async def test_what_others_wrote_meanwhile_is_in_what_is_made(others: int) -> None:
    store = Crowded()
    store.others = others
    assert await change(store) == b"o" * others + b"m"
    assert store.contents == {"a/b": b"o" * others + b"m"}


async def test_none_leaves_all_as_it_is() -> None:
    store = MemoryBlobStore()
    await store.create("a/b", b"here")
    await blob_store.change_blob(store, "a/b", lambda _: None, what="it")
    assert store.contents == {"a/b": b"here"}


async def test_others_who_never_end_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob_store, "TRIES", 2)
    store = Crowded()
    store.others = 100
    with pytest.raises(StoreUnavailableError, match="it is changed all the time"):
        await change(store)
