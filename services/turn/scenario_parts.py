"""What all turns share of the scenarios, made from the settings."""

from dataclasses import dataclass

from data_models.blob_store import BlobStore
from data_models.clock import Clock, IdSource
from services.audit.trail import Audit
from services.model_port import StructuredModel
from services.records.ports import PatientRecords
from services.scenarios.migration.catalogue import Catalogue
from services.scenarios.migration.meter import MigrationMeter
from services.scenarios.migration.migration_config import MigrationConfig
from services.scenarios.migration.ports import SessionIndex
from services.scenarios.migration.reconciliation import Reconciler
from services.scenarios.scenario_factory import ScenarioStores
from services.scenarios.session.extraction import Extractor
from services.scenarios.session.guide import ScenarioGuide
from services.telemetry.metrics import Metrics
from services.turn.record_facts import RecordFacts
from services.turn.scenario_events import ScenarioEvents


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioParts:
    """The collaborators of `services.turn.scenarios.TurnScenarios`."""

    catalogue: Catalogue
    guide: ScenarioGuide
    reconciler: Reconciler
    extractor: Extractor
    records: RecordFacts
    index: SessionIndex
    events: ScenarioEvents
    meter: MigrationMeter
    config: MigrationConfig
    clock: Clock
    ids: IdSource


def scenario_parts(
    stores: ScenarioStores,
    *,
    records: PatientRecords,
    model: StructuredModel,
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
        guide=ScenarioGuide(
            catalogue=catalogue, clock=clock, ids=ids, config=stores.config.gap_fill
        ),
        reconciler=Reconciler(catalogue=catalogue, clock=clock, config=stores.config),
        extractor=Extractor(model=model),
        records=RecordFacts(records=records, clock=clock),
        index=stores.index,
        events=ScenarioEvents(audit=audit, trail=trail, blobs=stores.blobs),
        meter=MigrationMeter(registry=metrics.registry, config=stores.config),
        config=stores.config,
        clock=clock,
        ids=ids,
    )
