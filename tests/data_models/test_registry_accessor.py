"""The registry's accessor: each version is parsed once, and nobody sees another's draft."""

import pytest

from data_models.documents import Documents
from data_models.errors import CorruptDocumentError
from data_models.identifiers import ConversationLayout, PatientId
from data_models.patient_context_models import (
    PatientContext,
    PatientContextRegistryAccessor,
    Registry,
)
from tests.fakes import CountingIds, FixedClock
from tests.fakes_store import MemoryBlobStore

FOUR, FIFTEEN = PatientId("patient_4"), PatientId("patient_15")


def accessor(store: MemoryBlobStore, *, kept_rows: int = 100) -> PatientContextRegistryAccessor:
    documents = Documents(store=store, clock=FixedClock(), ids=CountingIds())
    return PatientContextRegistryAccessor(documents=documents, kept_rows=kept_rows)


def registry(*ids: PatientId, conversation_id: str = "c") -> Registry:
    now = FixedClock().now()
    rows = {
        one: PatientContext(
            patient_id=one, conversation_id=conversation_id, created_at=now, updated_at=now
        )
        for one in ids
    }
    return Registry(
        conversation_id=conversation_id, active_patient_id=ids[0], patient_registry=rows
    )


async def active(found: PatientContextRegistryAccessor, conversation_id: str = "c") -> str | None:
    return (await found.read(conversation_id, epoch=0)).document.active_patient_id


async def test_a_draft_of_one_reader_is_not_seen_by_the_next() -> None:
    found = accessor(MemoryBlobStore())
    await found.write(registry(FOUR), etag=None)
    for _ in range(2):
        draft = (await found.read("c", epoch=0)).document
        draft.active_patient_id = FIFTEEN
        draft.patient_registry.clear()

    again = (await found.read("c", epoch=0)).document

    assert again == registry(FOUR).model_copy(update={"write_id": again.write_id})


async def test_what_was_written_is_read_and_not_what_was_parsed_before() -> None:
    found = accessor(MemoryBlobStore())
    etag = await found.write(registry(FOUR), etag=None)
    assert await active(found) == FOUR

    await found.write(registry(FIFTEEN), etag=etag)

    assert await active(found) == FIFTEEN


async def test_another_replicas_write_is_seen_by_a_fresh_read_alone() -> None:
    store = MemoryBlobStore()
    found, other = accessor(store), accessor(store)
    etag = await found.write(registry(FOUR), etag=None)
    assert await active(found) == FOUR
    await other.write(registry(FIFTEEN), etag=etag)

    fresh = await found.read("c", epoch=0, fresh=True)

    assert fresh.document.active_patient_id == FIFTEEN
    assert await active(found) == FOUR


async def test_damage_is_found_although_an_earlier_version_was_parsed() -> None:
    store = MemoryBlobStore()
    found = accessor(store)
    etag = await found.write(registry(FOUR), etag=None)
    assert await active(found) == FOUR
    await store.replace(ConversationLayout.of("c").registry, b"{", etag=etag)

    with pytest.raises(CorruptDocumentError):
        await found.read("c", epoch=0, fresh=True)


@pytest.mark.parametrize("kept_rows", [0, 1, 3, 4])
async def test_what_does_not_fit_is_parsed_anew_and_read_all_the_same(kept_rows: int) -> None:
    found = accessor(MemoryBlobStore(), kept_rows=kept_rows)
    for name, one in (("a", FOUR), ("b", FIFTEEN)):
        await found.write(registry(one, conversation_id=name), etag=None)

    for _ in range(2):
        assert await active(found, "a") == FOUR
        assert await active(found, "b") == FIFTEEN
