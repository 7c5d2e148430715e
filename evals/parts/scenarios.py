"""Replays one what-if case through deployment, marking and reconciliation."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from pydantic import JsonValue, ValidationError

from data_models.errors import ScenarioDefinitionError, ScenarioInputError, ScenarioPlanError
from data_models.scenarios.scenario_session import (
    CompletedCheckpoint,
    Extracted,
    PatientProfile,
    ProfileField,
    ScenarioSession,
    StepVisit,
)
from data_models.storage.local_blob_store import LocalBlobStore
from data_models.storage.local_blob_tags import IN_MEMORY, LocalBlobTags
from evals.parts.scenario_cases import (
    AnswerEvent,
    CaseEvent,
    CaseFile,
    CaseSession,
    DoneEvent,
    MoveEvent,
    scenario_of,
)
from services.scenarios.definition.definition_reader import checked_graph
from services.scenarios.definition.graph import Graph
from services.scenarios.migration.case import ReconciliationResult, with_action_done
from services.scenarios.migration.deployment import Deployer
from services.scenarios.migration.plans.migration_plan import MigrationPlan
from services.scenarios.migration.reconciliation import Reconciler
from services.scenarios.migration.scenario_store import Catalogue, ScenarioStore, plan_name
from services.scenarios.migration.session_index import TAGS, SessionIndex, SessionRow, session_tags
from services.scenarios.scenario_settings import DeploymentConfig, MigrationConfig
from services.scenarios.session.facts import with_answers
from services.scenarios.session.progress import advanced
from tests.fakes import CountingIds, FixedClock

Json: TypeAlias = dict[str, JsonValue]
SCENARIO_ID = "case"
SESSION_ID = "session"
NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Simulation:
    """The production's parts on files in `folder`, with one session and no model."""

    def __init__(
        self, *, case: CaseFile, folder: Path, config: MigrationConfig | None = None
    ) -> None:
        config = config or MigrationConfig(deployment=DeploymentConfig(require_approval=False))
        clock = FixedClock(NOW)  # what ages is said by the case
        self._case = case
        self._blobs = LocalBlobStore(root=folder)
        tags = LocalBlobTags(path=IN_MEMORY, names=TAGS, tags_of=session_tags)
        self._index = SessionIndex(tags=tags)
        store = ScenarioStore(blobs=self._blobs)
        self._deployer = Deployer(
            store=store, index=self._index, clock=clock, ids=CountingIds(), config=config.deployment
        )
        catalogue = Catalogue(store=store, clock=clock)
        self._reconciler = Reconciler(catalogue=catalogue, clock=clock, config=config)
        self._graphs = {
            graph.v: checked_graph(scenario_of(graph, scenario_id=SCENARIO_ID))
            for graph in case.graphs
        }
        _check(case, self._graphs)
        self.session, self.profile = _session(case.session, self._graphs[case.session.v])
        self._heard = {
            name: Extracted(value=one.value, confidence=one.confidence, quote=one.quote)
            for name, one in case.session.says.items()
        }

    async def play(self) -> Json:
        """Deploy all versions, play all events, and return what happened."""
        try:
            return await self._played()
        finally:
            await self._index.close()

    async def _played(self) -> Json:
        plan = await self._deploy_all()
        for link in self._case.missing_plans:
            await self._blobs.delete(plan_name(SCENARIO_ID, int(link.partition(">")[0])))
        events = [await self._event(event) for event in self._case.events]
        return {"plan": _plan_row(plan), "events": [*events]}

    async def _deploy_all(self) -> MigrationPlan | None:
        plan: MigrationPlan | None = None
        graphs = list(self._graphs.values())
        await self._deployer.publish_first(graphs[0])
        await self._index_session(mark=0)
        for old, new in pairwise(graphs):
            policies = {
                step: policy
                for step, policy in self._case.policies.items()
                if step in old.steps or step == "*"
            }
            plan = await self._deployer.propose(new, operator="author", policies=policies)
            await self._deployer.start(SCENARIO_ID)
            await self._deployer.advance(SCENARIO_ID)
        return plan

    async def _event(self, event: CaseEvent) -> Json:
        result = ReconciliationResult(self.session)
        if isinstance(event, MoveEvent):
            graph = self._graphs[self.session.version]
            self.session = advanced(self.session, graph, event.move, NOW)
        else:
            self._hear(event)
            result = await self._reconcile()
        return self._row(result, pending=await self._is_pending())

    def _hear(self, event: CaseEvent) -> None:
        active = list(self._graphs.values())[-1]
        if isinstance(event, AnswerEvent):
            self.session = with_answers(self.session, event.answer, active)
        elif isinstance(event, DoneEvent):
            if event.done not in active.steps:
                raise ScenarioPlanError(f"done: there is no step {event.done!r}")
            self.session = with_action_done(self.session, event.done, active.version, NOW)

    async def _reconcile(self) -> ReconciliationResult:
        outcome = await self._reconciler.before_turn(
            self.session, self.profile, extracted=self._heard
        )
        self.session = outcome.session
        if outcome.settled:
            await self._index_session(mark=0)
        return outcome

    async def _is_pending(self) -> bool:
        waits = self.session.progress is not None and self.session.review is None
        rows = (await self._index.page(SCENARIO_ID, limit=1)).rows
        return waits or any(row.mark for row in rows)

    async def _index_session(self, *, mark: int) -> None:
        session = self.session
        graph = self._graphs[session.version]
        row = SessionRow(
            session_id=SESSION_ID,
            scenario_id=SCENARIO_ID,
            version=session.version,
            step_hash=graph.hashes[session.step] if session.step else "",
            channel=session.channel,
            created_at=session.created_at,
            mark=mark,
            place=SESSION_ID,
        )
        await self._index.put([row])

    def _row(self, result: ReconciliationResult, *, pending: bool) -> Json:
        return {
            "action": result.action,
            "scenario": result.scenario,
            "step": self.session.step,
            "v": self.session.version,
            "collect": [*result.collect_fields],
            "confirm": [*result.confirm_fields],
            "execute": [*result.execute_actions],
            "blocked": result.blocked_by_checkpoint,
            "notify": result.notify,
            "pending": pending,
            "pinned": self.session.pinned_to is not None,
            "review": self.session.review is not None,
        }


def _check(case: CaseFile, graphs: dict[int, Graph]) -> None:
    if len(graphs) < len(case.graphs) or list(graphs) != sorted(graphs):
        raise ScenarioPlanError("graphs: versions must go up")
    known = {step for graph in graphs.values() for step in graph.steps}
    unknown = [step for step in case.policies if step not in known and step != "*"]
    if unknown:
        raise ScenarioPlanError(f"policies: there is no step {unknown[0]!r}")
    for link in case.missing_plans:
        ends = [end.strip() for end in link.split(">")]
        if len(ends) != 2 or not all(end.isdecimal() for end in ends):
            raise ScenarioPlanError(f"missing_plans: {link!r} is not like '1>2'")
    session = case.session
    if session.v not in graphs:
        raise ScenarioPlanError(f"session: there is no version {session.v}")
    for step in (session.at, *session.path, *session.passed):
        if step not in graphs[session.v].steps:
            raise ScenarioPlanError(f"session: version {session.v} has no step {step!r}")


def _session(case: CaseSession, graph: Graph) -> tuple[ScenarioSession, PatientProfile]:
    path = case.path if case.path[-1:] == [case.at] else [*case.path, case.at]
    steps = graph.steps
    session = ScenarioSession(
        session_id=SESSION_ID,
        scenario_id=SCENARIO_ID,
        version=case.v,
        checksum=graph.checksum,
        step=case.at,
        step_history=[
            StepVisit(step_id=step, step_name=steps[step].title, visited_at=NOW) for step in path
        ],
        completed_checkpoints=[
            CompletedCheckpoint(
                step_id=step,
                version=case.v,
                description=steps[step].checkpoint_description,
                completed_at=NOW,
            )
            for step in case.passed
        ],
        variables=case.vars,
        channel=case.channel,
        created_at=NOW - timedelta(days=case.age_days),
        updated_at=NOW,
    )
    fields = {
        name: ProfileField(
            value=one.value,
            confidence=one.confidence,
            expires_at=NOW - timedelta(seconds=1) if one.expired else None,
        )
        for name, one in case.profile.items()
    }
    return session, PatientProfile(fields=fields)


def _plan_row(plan: MigrationPlan | None) -> Json:
    if plan is None:
        return {"anchors": {}, "deleted": []}
    found = plan.transformation_map
    return {
        "anchors": {**found.image},
        "deleted": [node.node_id_v1 for node in found.deleted_nodes],
    }


async def simulate(raw: JsonValue) -> Json:
    """Play the cases of a file; one that cannot be read or played is an error, others run.

    Raises:
        ScenarioDefinitionError: the file holds no list of cases.
    """
    cases = raw.get("cases") if isinstance(raw, dict) else None
    if not isinstance(cases, list):
        raise ScenarioDefinitionError(('the file must be {"cases": [...]}',))
    results: Json = {}
    for number, case in enumerate(cases, 1):
        results[_name(case, number, results)] = await _played(case)
    return {"results": results}


def _name(case: JsonValue, number: int, taken: Json) -> str:
    named = case.get("id") if isinstance(case, dict) else None
    name = str(named) if isinstance(named, str | int) else f"case {number}"
    return name if name not in taken else f"{name} ({number})"


async def _played(case: JsonValue) -> Json:
    try:
        with TemporaryDirectory() as folder:
            return await Simulation(case=CaseFile.model_validate(case), folder=Path(folder)).play()
    except ValidationError as error:
        return {"error": "; ".join(_problems(error))}
    except ScenarioInputError as error:
        return {"error": str(error)}


def _problems(error: ValidationError) -> list[str]:
    return [
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    ]
