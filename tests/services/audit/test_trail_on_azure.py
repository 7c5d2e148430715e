"""The trail in append blobs."""

import asyncio
import secrets

import pytest

from data_models.clock import RandomIds
from data_models.storage.azure_blob_store import AzureBlobStore
from services.audit.__main__ import verify
from services.audit.trail import AuditEntry, AuditTrail
from tests.fakes import FixedClock


@pytest.mark.slow
async def test_records_are_appended_and_sound(azurite: str, patient_storage: None) -> None:
    container = f"audit-{secrets.token_hex(4)}"
    store = AzureBlobStore(azurite, container=container, ids=RandomIds())
    for restart in range(2):
        trail = AuditTrail(store=store, replica="host/1", clock=FixedClock())
        await asyncio.gather(
            *(
                trail.record(
                    AuditEntry(
                        principal="p",
                        conversation="c",
                        run_id=f"{restart}_{run}",
                        actions=("turn",),
                    )
                )
                for run in range(10)
            )
        )
    report = await verify(store, day="2030-01-02")
    await store.close()
    assert (report.records, report.breaks) == (20, [])
