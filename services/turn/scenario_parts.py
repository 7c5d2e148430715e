"""What all turns share of the scenarios, made from the settings."""

from dataclasses import dataclass

from data_models.clock import Clock, IdSource
from data_models.identifiers import PatientId
from data_models.scenarios.scenario_session import MigrationAppliedEvent
from data_models.storage.blob_store import BlobStore, put_blob
from services.audit.trail import Audit, Visitor, is_on_trail, record_access
from services.model_port import StructuredModel
from services.records.resources.ports import PatientRecords
from services.scenarios.migration.catalogue import Catalogue
from services.scenarios.migration.meter import MigrationMeter
from services.scenarios.migration.migration_config import MigrationConfig
from services.scenarios.migration.reconciliation import Reconciler
from services.scenarios.scenario_factory import ScenarioStores
from services.scenarios.session.recording import Extractor
from services.scenarios.session.session_state import RecordFacts
from services.telemetry.metrics import Metrics

# Delivers what migrations did to the audit trail: each session's jump exactly once (M19).

ACTION = "scenario_migration"


class ScenarioEvents:
    """Appends an entry to the trail, then keeps the whole event under its id, which seals it.

    An event waits in its session's outbox until both are done. One that is found there again
    was perhaps delivered by a process that died: then the trail itself is searched for its id.
    """

    def __init__(self, *, audit: Audit, trail: BlobStore, blobs: BlobStore) -> None:
        self._audit, self._trail, self._blobs = audit, trail, blobs

    async def deliver(
        self,
        event: MigrationAppliedEvent,
        *,
        principal: str,
        conversation: str,
        patient: PatientId | None,
        run_id: str,
        is_retry: bool,
    ) -> None:
        """Return once the event is on the trail, once.

        Raises:
            StoreError: it may not be; it stays in the outbox.
        """
        name = f"scenarios/{event.scenario_id}/events/{event.event_id}.json"
        mark = f"event:{event.event_id}"[:80]
        if is_retry and await self._blobs.read(name) is not None:
            return
        if not (is_retry and await is_on_trail(self._trail, mark, since=event.timestamp)):
            visitor = Visitor(principal, conversation, run_id)
            await record_access(self._audit, visitor, ACTION, mark, patient=patient, outcome="done")
        await put_blob(self._blobs, name, event.model_dump_json().encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioParts:
    """The collaborators of `services.turn.scenarios.scenarios.TurnScenarios`."""

    catalogue: Catalogue
    reconciler: Reconciler
    extractor: Extractor
    records: RecordFacts
    events: ScenarioEvents
    meter: MigrationMeter
    config: MigrationConfig
    clock: Clock
    ids: IdSource


def scenario_parts(
    stores: ScenarioStores,
    *,
    records: PatientRecords,
    model: StructuredModel | None,
    audit: Audit,
    trail: BlobStore,
    metrics: Metrics,
    clock: Clock,
    ids: IdSource,
) -> ScenarioParts:
    """Return the parts around the stores that operators share with turns."""
    catalogue = Catalogue(store=stores.store, clock=clock)
    return ScenarioParts(
        catalogue=catalogue,
        reconciler=Reconciler(catalogue=catalogue, clock=clock, config=stores.config),
        extractor=Extractor(model=model),
        records=RecordFacts(records=records, clock=clock),
        events=ScenarioEvents(audit=audit, trail=trail, blobs=stores.blobs),
        meter=MigrationMeter(registry=metrics.registry, config=stores.config),
        config=stores.config,
        clock=clock,
        ids=ids,
    )
