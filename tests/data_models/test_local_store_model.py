"""Whatever is asked in whatever order, files answer as memory does."""

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_models.errors import StoreError
from data_models.storage.blob_store import BlobStore
from data_models.storage.local_blob_store import LocalBlobStore
from tests.fakes_store import MemoryBlobStore

Kind: TypeAlias = Literal["create", "replace", "replace stale", "delete", "append"]
NAMES = ["c1/a.json", "c1/b.json", "c1/inbox/1.json", "c10/a.json"]


@dataclass(frozen=True)
class Step:
    kind: Kind
    name: str
    data: bytes


STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(["create", "replace", "replace stale", "delete", "append", "append"]),
        name=st.sampled_from(NAMES),
        data=st.binary(min_size=1, max_size=20),
    ),
    max_size=25,
)


@dataclass
class Walker:
    """Takes the steps on one store and keeps what a caller would see."""

    store: BlobStore
    seen: list[object] = field(default_factory=list)
    first_etags: dict[str, str] = field(default_factory=dict)

    async def take(self, step: Step) -> None:
        try:
            self.seen.append(await self._do(step))
        except StoreError as error:
            self.seen.append(type(error))
        self.seen.append([await self._look(name) for name in NAMES])

    async def _do(self, step: Step) -> int | None:
        if step.kind == "append":
            blob = await self.store.read(step.name)
            position = 0 if blob is None else len(blob.data)
            return await self.store.append(step.name, self._unique(step), position=position)
        if step.kind == "delete":
            await self.store.delete(step.name)
        elif step.kind == "create":
            self.first_etags[step.name] = await self.store.create(step.name, self._unique(step))
        else:
            await self._replace(step)
        return None

    async def _replace(self, step: Step) -> None:
        blob = await self.store.read(step.name)
        current = "" if blob is None else blob.etag
        stale = self.first_etags.get(step.name, "")
        if step.kind == "replace stale" and stale == current:
            return
        await self.store.replace(
            step.name, self._unique(step), etag=current if step.kind == "replace" else stale
        )

    def _unique(self, step: Step) -> bytes:
        # Files take a content that comes back for the version that it was; memory does not.
        return step.data + f"<{len(self.seen)}>".encode()

    async def _look(self, name: str) -> tuple[bytes | None, list[tuple[str, int]]]:
        blob = await self.store.read(name)
        folder = name.rpartition("/")[0]
        rows = [(row.name, row.size_bytes) async for row in self.store.list(f"{folder}/")]
        return (None if blob is None else blob.data), rows


@pytest.mark.slow
@given(STEPS)
def test_files_answer_as_memory_does(steps: list[Step]) -> None:
    asyncio.run(compare(steps))


async def compare(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        local = LocalBlobStore(root=Path(folder) / "chat-sessions")
        files, memory = Walker(local), Walker(MemoryBlobStore())
        for step in steps:
            await files.take(step)
            await memory.take(step)
            assert files.seen[-2:] == memory.seen[-2:]
        await local.close()
