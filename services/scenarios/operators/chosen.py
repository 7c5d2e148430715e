"""Builds the operators' desk and the work behind it from the settings' parts."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from data_models.blob_store import BlobStore
from data_models.chat_context_accessor import ChatContextAccessor
from data_models.clock import Clock, IdSource
from data_models.documents import Documents
from services.audit.trail import Audit
from services.conversations.caretaker import Caretaker
from services.conversations.claimant import Claimant
from services.scenarios.chosen import ScenarioHouse
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.deployment_runner import DeploymentRunner
from services.scenarios.migration.plan_meter import PlanMeter
from services.scenarios.operators.act_log import ActLog
from services.scenarios.operators.desk import DeskParts, OperatorDesk
from services.scenarios.operators.dry_run import DryRun
from services.scenarios.operators.journal import Journal
from services.scenarios.operators.jumps import Jumps
from services.scenarios.operators.plan_reader import PlanReader
from services.scenarios.operators.score import ScoreBook
from services.scenarios.operators.session_desk import SessionDesk
from services.scenarios.operators.stored_sessions import StoredSessions


@dataclass(frozen=True, slots=True)
class Operators:
    """The desk, and what a server runs for it; a command line works itself (`advance`)."""

    desk: OperatorDesk
    runner: DeploymentRunner
    deployer: Deployer


def operators_for(
    house: ScenarioHouse,
    *,
    documents: Documents,
    audit: Audit,
    registry: CollectorRegistry,
    clock: Clock,
    ids: IdSource,
    claimant: Claimant | None = None,
    works: bool = True,
) -> Operators:
    """Return the operators' half over the house that turns use too.

    Args:
        house: Versions, plans and the index of sessions.
        documents: Where the sessions are stored, with the servers' memory of them.
        claimant: Claims a conversation while a session of it is changed; None: none can be.
        works: Whether a deployment is worked on behind whoever begins it.
    """
    meter = PlanMeter(registry=registry)
    deployer = Deployer(
        store=house.store,
        index=house.index,
        clock=clock,
        ids=ids,
        config=house.config.deployment,
        marked=meter.marked,
    )
    runner = DeploymentRunner(deployer=deployer, store=house.store)
    journal = Journal(paper=house.shelf, jumps=Jumps(shelf=house.shelf))
    caretaker = None if claimant is None else Caretaker(claimant=claimant, clock=clock, ids=ids)
    log = ActLog(audit=audit, journal=journal, now=clock.now)
    dry_run = _dry_run(house, documents.store, clock)
    parts = DeskParts(
        store=house.store,
        index=house.index,
        deployer=deployer,
        dry_run=dry_run,
        sessions=_session_desk(house, documents, caretaker, dry_run, log),
        journal=journal,
        log=log,
        plans=PlanReader(store=house.store, index=house.index),
        scores=ScoreBook(shelf=house.shelf),
        wake=runner.wake if works else _left_alone,
        planned=meter.planned,
        approved=meter.approved,
        seconds=clock.monotonic,
        require_approval=house.config.deployment.require_approval,
    )
    return Operators(desk=OperatorDesk(parts=parts), runner=runner, deployer=deployer)


def _session_desk(
    house: ScenarioHouse,
    documents: Documents,
    caretaker: Caretaker | None,
    dry_run: DryRun,
    log: ActLog,
) -> SessionDesk:
    return SessionDesk(
        store=house.store,
        index=house.index,
        sessions=StoredSessions(documents=documents.store),
        contexts=ChatContextAccessor(documents=documents),
        caretaker=caretaker,
        dry_run=dry_run,
        log=log,
        now=log.now,
    )


def _dry_run(house: ScenarioHouse, conversations: BlobStore, clock: Clock) -> DryRun:
    return DryRun(
        store=house.store,
        index=house.index,
        sessions=StoredSessions(documents=conversations),
        clock=clock,
        config=house.config,
    )


def _left_alone(_scenario_id: str) -> None:
    """A command works on its deployment itself."""
