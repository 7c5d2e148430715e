"""A file that an attempt at a turn had stored is the same file at the next attempt."""

from data_models.identifiers import PatientId
from services.memory_blocks.recall import PatientArtifacts
from tests.fakes_store import MemoryBlobStore
from tests.services.world import CHAT, World

FOUR = PatientId("patient_4")


async def test_one_key_is_one_file_as_it_was_last_given() -> None:
    store = MemoryBlobStore()
    world = World(sessions=store)
    rows = []
    for run_id, key, data in [("r1", "a", b"one"), ("r2", "a", b"two"), ("r2", "b", b"three")]:
        artifacts = PatientArtifacts(
            contexts=world.contexts,
            conversation_id=CHAT,
            patient_id=FOUR,
            run_id=run_id,
            clock=world.clock,
        )
        rows.append(await artifacts.save(file_name="r.docx", media_type="x/y", data=data, key=key))
    assert rows[0].artifact_id == rows[1].artifact_id != rows[2].artifact_id
    assert sorted(store.contents.values()) == [b"three", b"two"]
