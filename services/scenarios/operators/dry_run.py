"""What a plan would do to the sessions that are stored now; nothing is written."""

import asyncio
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import Field

from data_models.clock import Clock
from data_models.errors import CorruptDocumentError
from data_models.identifiers import hashed
from data_models.scenarios.scenario_session import PatientProfile
from data_models.storage.blob_store import BlobStore
from data_models.values import Value
from services.scenarios.migration.case import Case, Outcome
from services.scenarios.migration.migration_config import MigrationConfig
from services.scenarios.migration.plans.migration_plan import MigrationPlan
from services.scenarios.migration.plans.move import VersionChain
from services.scenarios.migration.ports import SessionIndex, SessionRow
from services.scenarios.migration.reconciliation import reconcile
from services.scenarios.migration.scenario_store import ScenarioStore
from services.scenarios.operators.stored_sessions import StoredSession, read_session
from services.scenarios.session.facts import lasting

READ_AT_ONCE = 16
Effect: TypeAlias = Literal[
    "clean_graft", "gap_fill", "re_route", "relocate", "exit", "blocked", "pinned", "stays",
    "unchanged", "gone", "unreadable",
]  # fmt: skip


class DryRunRow(Value):
    """What would become of one session; names steps and fields, never a value of a patient.

    Attributes:
        session: Its hashed id, as logs name it.
        effect: `stays`: on its version, for a person to look at; `unchanged`: out of scope,
            ended, pinned before, or at the version already; `gone`: no longer stored.
        why: In words for the operator.
        collect: Fields that the user would be asked for.
        confirm: Fields whose likely value the user would be asked to confirm.
        execute: Steps whose required action would run.
        sources: Where fields that are made up for come from, by field.
        blocked_by: The completed checkpoint that forbids a redirect.
    """

    session: str
    version: int
    step_before: str
    effect: Effect
    why: str
    step_after: str = ""
    collect: tuple[str, ...] = ()
    confirm: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()
    sources: dict[str, str] = Field(default_factory=dict)
    blocked_by: str = ""


class DryRunPage(Value):
    """Some rows, and the cursor of the next page; empty on the last one."""

    rows: tuple[DryRunRow, ...]
    cursor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """Replays a plan over stored sessions with the code that turns run, page by page.

    Memory is bounded by one page. What extraction would find is not known without a model; the
    fields it might fill are listed as asked.
    """

    store: ScenarioStore
    index: SessionIndex
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
        for start in range(0, len(page.rows), READ_AT_ONCE):
            batch = page.rows[start : start + READ_AT_ONCE]
            found += await asyncio.gather(*(self._row(chain, row) for row in batch))
        return DryRunPage(rows=tuple(found), cursor=page.cursor)

    async def one(self, plan: MigrationPlan, row: SessionRow) -> DryRunRow:
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

    async def _row(self, chain: VersionChain, row: SessionRow) -> DryRunRow:
        try:
            stored = await read_session(self.documents, row)
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
            extracted={},
            config=self.config,
            now=self.clock.now(),
        )
        return _described(stored, reconcile(case))


def _without_session(row: SessionRow, effect: Effect, why: str) -> DryRunRow:
    session = hashed(row.session_id)
    return DryRunRow(session=session, version=row.version, step_before="", effect=effect, why=why)


def _described(before: StoredSession, outcome: Outcome) -> DryRunRow:
    result, after = outcome.result, outcome.session
    event = after.outbox[-1] if len(after.outbox) > len(before.session.outbox) else None
    blocked = event.checkpoint_description or event.checkpoint_id if event else None
    return DryRunRow(
        session=hashed(before.session.session_id),
        version=before.session.version,
        step_before=before.session.step or "",
        effect=_effect(before, outcome),
        why=result.checkpoint_warning or result.reason,
        step_after=after.step or "",
        collect=result.collect_fields,
        confirm=result.confirm_fields,
        execute=result.execute_actions,
        sources=outcome.gap_sources,
        blocked_by=blocked or "",
    )


def _effect(before: StoredSession, outcome: Outcome) -> Effect:
    result, after = outcome.result, outcome.session
    if result.needs_review:
        return "stays"
    if result.blocked_by_checkpoint:
        return "blocked"
    if result.action == "exit_scenario":
        return "exit"
    if after.pinned_to is not None and after.pinned_to != before.session.pinned_to:
        return "pinned"
    return result.scenario or "unchanged"
