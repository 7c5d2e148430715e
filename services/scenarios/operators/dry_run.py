"""What a plan would do to the sessions stored now, and one session as an operator sees it."""

import asyncio
from dataclasses import dataclass

from pydantic import AwareDatetime, JsonValue

from data_models.clock import Clock
from data_models.errors import CorruptDocumentError
from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import PatientProfile, ScenarioSession
from data_models.storage.blob_store import BlobStore
from data_models.values import Value
from services.scenarios.definition.graph import Graph
from services.scenarios.migration import session_index
from services.scenarios.migration.case import Case, ReconciliationResult
from services.scenarios.migration.plans.migration_plan import MigrationPlan
from services.scenarios.migration.plans.move import VersionChain
from services.scenarios.migration.reconciliation import reconcile
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.operators.journal import DryRunRow, Effect, Score
from services.scenarios.scenario_settings import MigrationConfig
from services.scenarios.session.facts import lasting

_READ_AT_ONCE = 16


class DryRunPage(Value):
    """Some rows, and the cursor of the next page; empty on the last one.

    Attributes:
        score: How the last dry run came true, on the first page.
    """

    rows: tuple[DryRunRow, ...]
    cursor: str
    score: Score | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """Replays a plan over stored sessions with the code that turns run, page by page.

    Memory is bounded by one page. What extraction would find is not known without a model; the
    fields it might fill are listed as asked.
    """

    store: ScenarioStore
    index: session_index.SessionIndex
    documents: BlobStore
    clock: Clock
    config: MigrationConfig

    async def page(self, plan: MigrationPlan, *, after: str = "", limit: int) -> DryRunPage:
        """Return the next rows behind the cursor `after`.

        Raises:
            ScenarioNotFoundError: a version is not stored.
        """
        chain = await self._chain(plan)
        page = await self.index.page(
            plan.scenario_id, after=after, limit=limit, below_version=plan.to_version
        )
        found: list[DryRunRow] = []
        for start in range(0, len(page.rows), _READ_AT_ONCE):
            batch = page.rows[start : start + _READ_AT_ONCE]
            found += await asyncio.gather(*(self._row(chain, row) for row in batch))
        return DryRunPage(rows=tuple(found), cursor=page.cursor, score=None)

    async def one(self, plan: MigrationPlan, row: session_index.SessionRow) -> DryRunRow:
        """Return what the plan would do to one session.

        Raises:
            ScenarioNotFoundError: a version is not stored.
        """
        return await self._row(await self._chain(plan), row)

    async def _chain(self, plan: MigrationPlan) -> VersionChain:
        """The versions as they will be once the plan is deployed."""
        pointer = (await self.store.require_active(plan.scenario_id)).value
        former = (version for version in pointer.versions if version < plan.to_version)
        versions = (*former, plan.to_version)
        return await self.store.chain(plan.scenario_id, versions, plan.anchor_policies)

    async def _row(self, chain: VersionChain, row: session_index.SessionRow) -> DryRunRow:
        try:
            stored = await session_index.read_session(self.documents, row)
        except CorruptDocumentError:
            return _without_session(row, "unreadable", "its document cannot be read")
        if stored is None:
            return _without_session(row, "gone", "it is no longer stored")
        if not chain.has(stored.session.version):
            return _without_session(row, "stays", "its version is not stored")
        case = Case(
            session=stored.session,
            profile=PatientProfile(
                fields=lasting(stored.document.profile, chain.active, self.clock.now())
            ),
            move=chain.move_from(stored.session.version),
            config=self.config,
            now=self.clock.now(),
        )
        return _described(stored, reconcile(case))


def _without_session(row: session_index.SessionRow, effect: Effect, why: str) -> DryRunRow:
    session = hashed(row.session_id)
    return DryRunRow(session=session, version=row.version, step_before="", effect=effect, why=why)


def _described(before: session_index.StoredSession, result: ReconciliationResult) -> DryRunRow:
    after = result.session
    event = after.outbox[-1] if len(after.outbox) > len(before.session.outbox) else None
    blocked = event.checkpoint_description or event.checkpoint_id if event else None
    return DryRunRow(
        session=hashed(before.session.session_id),
        version=before.session.version,
        step_before=before.session.step or "",
        effect=_effect(before, result),
        why=result.checkpoint_warning or result.reason,
        step_after=after.step or "",
        collect=result.collect_fields,
        confirm=result.confirm_fields,
        execute=result.execute_actions,
        sources=result.gap_sources,
        blocked_by=blocked or "",
    )


def _effect(before: session_index.StoredSession, result: ReconciliationResult) -> Effect:
    after = result.session
    if result.needs_review:
        return "stays"
    if result.blocked_by_checkpoint:
        return "blocked"
    if result.action == "exit_scenario":
        return "exit"
    if after.pinned_to is not None and after.pinned_to != before.session.pinned_to:
        return "pinned"
    return result.scenario or "unchanged"


_HIDDEN = "hidden"
"""In the place of a value or a quote that is health information."""


# One session as an operator sees it: its way and its fields, without what patients said.


class VisitView(Value):
    """A step of the way."""

    step: str
    name: str
    at: AwareDatetime
    is_skipped: bool


class FieldView(Value):
    """A field and who said it.

    Attributes:
        value: `hidden` where the definition marks the field as health information.
        quote: The same.
    """

    name: str
    label: str
    value: JsonValue
    source: str
    turn: int
    quote: str


class NextView(Value):
    """What a plan, or the active version, would do to the session now."""

    version: int
    effect: str
    why: str
    step_after: str
    asks: tuple[str, ...]
    runs: tuple[str, ...]


class SessionView(Value):
    """One session."""

    session: str
    scenario_id: str
    version: int
    step: str
    step_name: str
    is_left: bool
    channel: str
    begun: AwareDatetime
    way: tuple[VisitView, ...]
    fields: tuple[FieldView, ...]
    missing: tuple[str, ...]
    checkpoints: tuple[str, ...]
    reason: str
    pinned: str
    steps: dict[str, str]
    next: NextView | None = None


def view_of_session(session: ScenarioSession, graph: Graph) -> SessionView:
    """Return what an operator may see of `session`, which is in a step of `graph`."""
    step = graph.steps[session.step or ""]
    return SessionView(
        session=hashed(session.session_id),
        scenario_id=session.scenario_id,
        version=session.version,
        step=step.id,
        step_name=step.title,
        is_left=session.is_left,
        channel=session.channel,
        begun=session.created_at,
        way=tuple(
            VisitView(
                step=visit.step_id,
                name=visit.step_name or visit.step_id,
                at=visit.visited_at,
                is_skipped=visit.skipped,
            )
            for visit in session.step_history
        ),
        fields=tuple(_field(session, graph, name) for name in session.variables),
        missing=tuple(
            graph.fields[n].label
            for n in step.collects_profile_fields
            if n not in session.variables
        ),
        checkpoints=tuple(one.description or one.step_id for one in session.completed_checkpoints),
        reason=session.review.reason if session.review else "",
        pinned=session.pinned_to.reason if session.pinned_to else "",
        steps={one.id: one.title for one in graph.steps.values()},
    )


def _field(session: ScenarioSession, graph: Graph, name: str) -> FieldView:
    field, evidence = graph.fields.get(name), session.evidence.get(name)
    is_hidden = field is None or field.phi
    quote = evidence.quote if evidence else ""
    return FieldView(
        name=name,
        label=field.label if field is not None else name,
        value=_HIDDEN if is_hidden else session.variables[name],
        source=evidence.source if evidence else "0.1",
        turn=evidence.turn if evidence else 0,
        quote=_HIDDEN if is_hidden and quote else quote,
    )
