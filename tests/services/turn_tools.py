"""What all turns share of tools, as `app.py` builds it, on stores in memory."""

from collections.abc import Sequence
from typing import Any

from prometheus_client import CollectorRegistry

from data_models.clock import Clock, IdSource, RandomIds, SystemClock
from data_models.errors import RecordNotFoundError
from services.assistant.undo_log import AssistantService
from services.audit.trail import NoAudit
from services.entities.circumstances import AgentNames
from services.entities.meter import EntityMeter
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.scenario_settings import MigrationConfig, ScenarioStores
from services.telemetry.metrics import Metrics
from services.turn.tools import ScenarioParts, TurnEntities, TurnTools, scenario_parts
from tests.fakes import GivenRecords
from tests.fakes_connected import NoAssistant
from tests.fakes_store import MemoryBlobStore
from tests.services.scenarios.worlds import MemoryIndex

NO_RECORDS = GivenRecords(RecordNotFoundError())
"""Records that know nobody, so that everything has to be asked."""


def turn_tools(
    *,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    agents: Sequence[str] = ("Orchestrator",),
    **given: Any,
) -> TurnTools:
    """Return what `given` does not name empty: no scenario is published, and nobody owns a task."""
    clock, ids = clock or SystemClock(), ids or RandomIds()
    own: dict[str, Any] = {
        "entities": TurnEntities(
            team=AgentNames.of(agents),
            clock=clock,
            meter=EntityMeter(registry=CollectorRegistry(), agents=agents),
        ),
        "assistant": AssistantService(back_end=NoAssistant(), store=MemoryBlobStore()),
        "scenarios": _no_scenarios(clock, ids),
    }
    return TurnTools(ids=ids, **own | given)


def _no_scenarios(clock: Clock, ids: IdSource) -> ScenarioParts:
    blobs = MemoryBlobStore()
    stores = ScenarioStores(
        blobs=blobs,
        store=ScenarioStore(blobs=blobs),
        index=MemoryIndex(),
        config=MigrationConfig(),
    )
    return scenario_parts(
        stores,
        records=NO_RECORDS,
        model=None,
        audit=NoAudit(),
        trail=MemoryBlobStore(),
        metrics=Metrics(registry=CollectorRegistry()),
        clock=clock,
        ids=ids,
    )
