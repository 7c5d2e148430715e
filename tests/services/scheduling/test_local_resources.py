"""Who was registered is asked in every turn, and read once."""

from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import pytest

from data_models.storage.blob_store import Blob, BlobInfo
from services.records.local_resources import LocalResources
from tests.fakes import FixedClock
from tests.fakes_store import MemoryBlobStore
from tests.services.records.charts import records_in
from tests.services.scheduling.clinics import NOW, SAMPLES


async def test_who_was_registered_is_read_once_and_again_when_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, read, listed = MemoryBlobStore(), list[str](), list[str]()
    asked, names, clock = store.read, store.list, FixedClock(NOW)

    async def counted(name: str) -> Blob | None:
        read.append(name)
        return await asked(name)

    def listing(prefix: str) -> AsyncIterator[BlobInfo]:
        listed.append(prefix)
        return names(prefix)

    monkeypatch.setattr(store, "read", counted)
    monkeypatch.setattr(store, "list", listing)
    patients = records_in(SAMPLES / "patients", clock)
    resources, elsewhere = (
        LocalResources(patients=patients, folder=tmp_path, store=store, zone=UTC, clock=clock)
        for _ in range(2)
    )
    ada = {
        "resourceType": "Patient",
        "identifier": [{"system": "urn:x", "value": "1"}],
        "name": [{"family": "Leeward", "given": ["Ada"]}],
    }
    kept = await resources.create_once(ada)
    for _ in range(3):
        assert [one["name"] for one in await resources.list_registered()] == [ada["name"]]
    assert len(read) == len(listed) == 1

    renamed = [{"family": "Leeward-Berg", "given": ["Ada"]}]
    await resources.update(kept, {**kept.body, "name": renamed})
    assert [one["name"] for one in await resources.list_registered()] == [renamed]
    assert len(read) == 2

    await elsewhere.create_once({**ada, "identifier": [{"system": "urn:x", "value": "2"}]})
    clock.advance(10)
    assert len(await resources.list_registered()) == 2
    assert len(listed) == 3
